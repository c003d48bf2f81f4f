package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The changes of the call sites between two moments of the last hour.
 *
 * @param from the stored moment nearest to the requested one, or the first reading if it is still
 *     stored and the requested moment is earlier; empty if nothing is known
 * @param to the stored moment nearest to the requested one; empty if nothing is known
 * @param changes the sites with any difference, most growth first
 * @param reason the reason why changes are unknown, or why they are known only since the first
 *     reading; empty if nothing is missing
 */
public record SiteChanges(
    Optional<Instant> from, Optional<Instant> to, List<SiteChange> changes, String reason) {

  public SiteChanges {
    changes = List.copyOf(changes);
  }

  /** Creates an empty result with the reason why nothing is known. */
  public static SiteChanges none(String reason) {
    return new SiteChanges(Optional.empty(), Optional.empty(), List.of(), reason);
  }
}
