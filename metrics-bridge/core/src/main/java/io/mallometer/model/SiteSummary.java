package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The libraries and call sites with most live memory, for the meters.
 *
 * <p>A name enters the summary at rank {@value #TOP} or better, and leaves it below rank {@value
 * #STAYING}. All other names are summed up as {@link #OTHER}.
 *
 * @param largestSites the call sites of the application with most live bytes, at most {@value
 *     #LARGEST}, largest first
 */
public record SiteSummary(
    @Figure("When the call sites were read") Instant time,
    @Figure(
            value =
                "Live native memory by the library that requested it, estimated from samples; most first, the last being other",
            unit = BYTES)
        List<Share> libraries,
    @Figure(
            value =
                "Live native memory by the call site of the application that requested it, estimated from samples; most first, the last being other, with the sites of HotSpot and mallometer",
            unit = BYTES)
        List<Share> sites,
    @Figure(
            value =
                "Resident native memory by the call site of the application that requested it, from malloc (estimated) or mmap; other has malloc's other sites",
            unit = BYTES)
        Map<String, Double> residentSites,
    List<Share> largestSites,
    @Figure(
            value =
                "Live bytes that were allocated before an attach and are in no site, "
                    + "estimated: 0 without attach, absent if unknown",
            unit = BYTES)
        double allocatedBeforeBytes) {

  /** The name for the sum of all other call sites or libraries. */
  public static final String OTHER = "other";

  /** The worst rank, by live bytes, at which a library or call site enters the summary. */
  public static final int TOP = 10;

  /** The worst rank, by live bytes, at which a library or call site stays in the summary. */
  public static final int STAYING = 15;

  /** The worst rank, by resident bytes, at which a call site enters {@link #residentSites}. */
  public static final int TOP_RESIDENT = 5;

  /** The worst rank, by resident bytes, at which a call site stays in {@link #residentSites}. */
  public static final int STAYING_RESIDENT = 6;

  /** The most sites in {@link #largestSites}. */
  public static final int LARGEST = 20;

  /** The estimated live bytes of one library or call site. */
  public record Share(
      @Figure(
              "At most 200 characters, without addresses and numbers that differ between "
                  + "two processes")
          String name,
      @Figure(value = "Bytes", unit = BYTES) double liveBytes) {}

  /**
   * Creates a summary of a process in which all allocations are counted. The resident bytes are
   * unknown.
   */
  public SiteSummary(
      Instant time, List<Share> libraries, List<Share> sites, List<Share> largestSites) {
    this(time, libraries, sites, Map.of(), largestSites, 0);
  }

  public SiteSummary {
    libraries = List.copyOf(libraries);
    sites = List.copyOf(sites);
    residentSites = Map.copyOf(residentSites);
    largestSites = List.copyOf(largestSites);
  }
}
