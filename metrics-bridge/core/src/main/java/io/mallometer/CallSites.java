package io.mallometer;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * One reading of all call sites, immutable.
 *
 * @param time when they were read
 * @param sites the sites, most live bytes first
 * @param samples allocations that were looked at since the process started
 * @param dropped by reason, such as {@code no-site}, {@code not-followed}: samples that are not or
 *     not wholly in the sites
 * @param byteUnit what one byte is
 * @param reason why there are no sites, or no Java frames in them; empty if nothing is missing
 */
public record CallSites(
    Instant time,
    List<CallSite> sites,
    long samples,
    Map<String, Long> dropped,
    ByteUnit byteUnit,
    String reason) {

  public CallSites {
    sites = List.copyOf(sites);
    dropped = Map.copyOf(dropped);
  }

  /** No sites, and why. */
  public static CallSites none(Instant time, String reason) {
    return new CallSites(time, List.of(), 0, Map.of(), ByteUnit.UNKNOWN, reason);
  }
}
