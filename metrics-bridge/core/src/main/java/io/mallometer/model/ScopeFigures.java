package io.mallometer.model;

import java.util.Optional;

/**
 * What a scope measured.
 *
 * @param counts empty if nothing was counted
 * @param matches what became of the allocations; empty unless the scope was opened with {@link
 *     ScopeOptions#matched()}, and if its table overflowed
 * @param reason why something is empty or unknown that was asked for; an empty text if nothing is
 */
public record ScopeFigures(
    Optional<ScopeCounts> counts, Optional<ScopeMatches> matches, String reason) {

  /** Nothing was measured. */
  public static ScopeFigures none(String reason) {
    return new ScopeFigures(Optional.empty(), Optional.empty(), reason);
  }
}
