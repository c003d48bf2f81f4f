package io.mallometer.model;

import java.util.Optional;

/**
 * Figures of a scope.
 *
 * @param counts empty if nothing was counted
 * @param matches temporary and retained memory; empty unless the scope was opened with {@link
 *     ScopeOptions#matched()}, and if its table overflowed
 * @param reason why a figure that was asked for is empty or unknown; an empty text if none is
 */
public record ScopeFigures(
    Optional<ScopeCounts> counts, Optional<ScopeMatches> matches, String reason) {

  /** Returns figures of which none was measured, with the reason. */
  public static ScopeFigures none(String reason) {
    return new ScopeFigures(Optional.empty(), Optional.empty(), reason);
  }
}
