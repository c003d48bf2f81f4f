package io.mallometer.model;

import java.util.Optional;

/**
 * The figures of a scope.
 *
 * @param counts the counts; empty if nothing was counted
 * @param matches the temporary and the retained memory; empty if the scope was opened without
 *     {@link ScopeOptions#matched()}, or if its table overflowed
 * @param reason the reason why a requested figure is empty or unknown; an empty text if all figures
 *     are known
 */
public record ScopeFigures(
    Optional<ScopeCounts> counts, Optional<ScopeMatches> matches, String reason) {

  /** Returns figures without a measurement, with the reason. */
  public static ScopeFigures none(String reason) {
    return new ScopeFigures(Optional.empty(), Optional.empty(), reason);
  }
}
