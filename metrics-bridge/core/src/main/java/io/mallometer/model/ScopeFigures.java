package io.mallometer.model;

import java.util.Optional;

/**
 * Figures of a scope.
 *
 * @param counts the counts; empty if nothing was counted
 * @param matches temporary and retained memory; empty unless the scope was opened with {@link
 *     ScopeOptions#matched()}, and if its table overflowed
 * @param reason why a requested figure is empty or unknown; an empty text if all are known
 */
public record ScopeFigures(
    Optional<ScopeCounts> counts, Optional<ScopeMatches> matches, String reason) {

  /** Returns figures without a measurement, with the reason. */
  public static ScopeFigures none(String reason) {
    return new ScopeFigures(Optional.empty(), Optional.empty(), reason);
  }
}
