package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * Libraries and call sites with most live memory, in a few names, for the meters.
 *
 * <p>A name comes in with the first {@value #TOP} and goes when it is no more among the first
 * {@value #STAYING}, so that two that take turns at the boundary do not come and go with each
 * reading. There are never more than {@value #STAYING} and {@link #OTHER}.
 *
 * @param time when the call sites were read
 * @param libraries live bytes by library, most first, the last being {@link #OTHER}
 * @param sites live bytes by site of the application, most first, the last being {@link #OTHER},
 *     which HotSpot's own sites and mallometer's are a part of
 * @param largestSites live bytes of the {@value #LARGEST} sites of the application that have most,
 *     most first
 * @param allocatedBeforeBytes live bytes that were allocated before an attach and are in no site,
 *     estimated: 0 without attach, {@code NaN} if unknown
 */
public record SiteSummary(
    Instant time,
    List<Share> libraries,
    List<Share> sites,
    List<Share> largestSites,
    double allocatedBeforeBytes) {

  /** Name for all that are not listed by their own name. */
  public static final String OTHER = "other";

  /** Most names in a summary. */
  public static final int TOP = 10;

  /** Rank down to which a name stays in the summary once it is in. */
  public static final int STAYING = 15;

  /** Most sites that are recorded. */
  public static final int LARGEST = 20;

  /**
   * Live bytes under one name, estimated.
   *
   * @param name at most 200 characters, without addresses and numbers that differ between two
   *     processes
   * @param liveBytes bytes
   */
  public record Share(String name, double liveBytes) {}

  /** A summary of sites in which everything is that the process allocated. */
  public SiteSummary(
      Instant time, List<Share> libraries, List<Share> sites, List<Share> largestSites) {
    this(time, libraries, sites, largestSites, 0);
  }

  public SiteSummary {
    libraries = List.copyOf(libraries);
    sites = List.copyOf(sites);
    largestSites = List.copyOf(largestSites);
  }
}
