package io.mallometer;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

  /** This reading with other sites: fewer, or in another order. */
  public CallSites with(List<CallSite> others) {
    return new CallSites(time, others, samples, dropped, byteUnit, reason);
  }

  /** The sites that {@link CallSite#mentions mention} a text. */
  public CallSites mentioning(String text) {
    return with(sites.stream().filter(site -> site.mentions(text)).toList());
  }

  /** The sites by a figure, largest first. */
  public List<CallSite> sortedBy(SiteOrder order) {
    return sites.stream().sorted(order.comparator()).toList();
  }

  /** The site of a number; empty if there is none. */
  public Optional<CallSite> site(int number) {
    return sites.stream().filter(site -> site.number() == number).findFirst();
  }

  /** The sites taken together, most live bytes first. */
  public List<SiteGroup> groupedBy(Grouping grouping) {
    Map<String, SiteGroup> groups = new LinkedHashMap<>();
    for (CallSite site : sites) {
      String key = grouping.keyOf(site);
      groups.merge(key, SiteGroup.of(key, site), SiteGroup::plus);
    }
    return groups.values().stream().sorted(SiteOrder.LIVE.comparator()).toList();
  }
}
