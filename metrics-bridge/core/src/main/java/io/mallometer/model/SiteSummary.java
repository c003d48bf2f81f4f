package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import java.time.Instant;
import java.util.List;

/**
 * Libraries and call sites with most live memory, in a few names, for the meters.
 *
 * <p>A name comes in with the first {@value #TOP} and goes when it is no more among the first
 * {@value #STAYING}, so that two that take turns at the boundary do not come and go with each
 * reading. There are never more than {@value #STAYING} and {@link #OTHER}.
 *
 * @param largestSites live bytes of the {@value #LARGEST} sites of the application that have most,
 *     most first
 */
public record SiteSummary(
    @Figure("When the call sites were read") Instant time,
    @Figure("Live bytes by library, most first, the last being OTHER") List<Share> libraries,
    @Figure(
            "Live bytes by site of the application, most first, the last being OTHER, "
                + "which HotSpot's own sites and mallometer's are a part of")
        List<Share> sites,
    List<Share> largestSites,
    @Figure(
            value =
                "Live bytes that were allocated before an attach and are in no site, "
                    + "estimated: 0 without attach, absent if unknown",
            unit = BYTES)
        double allocatedBeforeBytes) {

  /** Name for all that are not listed by their own name. */
  public static final String OTHER = "other";

  /** Most names in a summary. */
  public static final int TOP = 10;

  /** Rank down to which a name stays in the summary once it is in. */
  public static final int STAYING = 15;

  /** Most sites that are recorded. */
  public static final int LARGEST = 20;

  /** Live bytes under one name, estimated. */
  public record Share(
      @Figure(
              "At most 200 characters, without addresses and numbers that differ between "
                  + "two processes")
          String name,
      @Figure(value = "Bytes", unit = BYTES) double liveBytes) {}

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
