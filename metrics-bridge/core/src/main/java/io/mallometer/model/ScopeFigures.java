package io.mallometer.model;

import java.util.Optional;

/**
 * The figures of a scope.
 *
 * @param counts the counts; empty if nothing was counted
 * @param matches the memory that was allocated within the scope, divided into temporary memory,
 *     which was freed within the scope, and retained memory, which was not; empty without {@link
 *     ScopeOptions#matched()}, or if {@code reason} says why it is unknown
 * @param reason the reason why a requested figure is empty or unknown; an empty text if all are
 *     known
 */
public record ScopeFigures(
    Optional<ScopeCounts> counts, Optional<ScopeMatches> matches, String reason) {

  /** Returns empty figures, with the reason. */
  public static ScopeFigures none(String reason) {
    return new ScopeFigures(Optional.empty(), Optional.empty(), reason);
  }
}
