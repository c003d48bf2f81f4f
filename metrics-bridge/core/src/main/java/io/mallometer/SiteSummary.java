package io.mallometer;

import java.time.Instant;
import java.util.List;

/**
 * Who holds most of the live memory, in few names: what the meters show.
 *
 * @param time when the call sites were read
 * @param libraries live bytes by library, most first, the last being {@link #OTHER}
 * @param sites live bytes by site, most first, the last being {@link #OTHER}
 */
public record SiteSummary(Instant time, List<Share> libraries, List<Share> sites) {

  /** The name of what is not among the first. */
  public static final String OTHER = "other";

  /** Live bytes under one name, estimated. */
  public record Share(String name, double liveBytes) {}

  public SiteSummary {
    libraries = List.copyOf(libraries);
    sites = List.copyOf(sites);
  }
}
