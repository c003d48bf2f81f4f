package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The changes of the call sites between two moments of the last hour.
 *
 * @param from the first moment: the stored one nearest to the request, or the first reading if that
 *     was later; empty if nothing is known
 * @param to the second moment: the stored one nearest to the request; empty if nothing is known
 * @param changes the sites with any difference, most growth first
 * @param reason the reason why nothing is known, or why only the changes since the first reading
 *     are known; empty if nothing is missing
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
