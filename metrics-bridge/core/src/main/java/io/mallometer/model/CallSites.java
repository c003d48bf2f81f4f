package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.internal.text.HumanText;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A reading of all call sites at one time. This class is immutable.
 *
 * @param sites the sites, most live bytes first
 * @param buildIds the build ids in hexadecimal digits, by library name. A name is left out if
 *     several libraries with different build ids have it
 */
public record CallSites(
    @Figure("When the call sites were read") Instant time,
    List<CallSite> sites,
    @Figure(value = "Allocations that were looked at since counting began", unit = COUNT)
        long samples,
    @Figure(value = "Samples that are not or not wholly in the sites, by reason", unit = COUNT)
        Map<String, Long> dropped,
    @Figure("What one byte is") ByteUnit byteUnit,
    @Figure("Why there are no sites, or no Java frames in them; empty if nothing is " + "missing")
        String reason,
    @Figure("Since when allocations are in the sites, and what was allocated before") Origin origin,
    Map<String, String> buildIds) {

  /** The bytes that glibc needs for each object beyond its usable size. */
  static final int SIZE_WORD = 8;

  /**
   * The time and the way in which counting began. After an attach, allocations made before it
   * belong to no site.
   */
  public record Origin(
      @Figure("How the library came to count: preloaded, attached or none") String mode,
      @Figure("When counting began; empty if it did not") Optional<Instant> since,
      @Figure(
              value =
                  "Live bytes that were allocated before an attach, estimated: 0 without "
                      + "attach, absent if unknown",
              unit = BYTES)
          double allocatedBeforeBytes) {

    /**
     * Counting that began at the start of the process, so that the call sites contain all
     * allocations.
     */
    public static final Origin START = new Origin(SelfReport.PRELOADED, Optional.empty(), 0);

    /** Returns whether the library was attached, so that older allocations belong to no site. */
    public boolean attached() {
      return mode.equals(SelfReport.ATTACHED);
    }

    /**
     * Returns a sentence about the time of the attach and the allocations before it. Empty if the
     * library was not attached.
     */
    public String sentence() {
      if (!attached()) {
        return "";
      }
      return "Attached%s: earlier allocations belong to no call site%s"
          .formatted(
              since.map(time -> " at " + time.truncatedTo(ChronoUnit.SECONDS)).orElse(""),
              Double.isNaN(allocatedBeforeBytes)
                  ? ""
                  : ", about " + HumanText.bytes(allocatedBeforeBytes) + " of live memory");
    }
  }

  /**
   * Creates a reading with the origin {@link Origin#START}: counting began at the start of the
   * process, so the call sites contain all allocations.
   */
  public CallSites(
      Instant time,
      List<CallSite> sites,
      long samples,
      Map<String, Long> dropped,
      ByteUnit byteUnit,
      String reason) {
    this(time, sites, samples, dropped, byteUnit, reason, Origin.START, Map.of());
  }

  public CallSites {
    sites = List.copyOf(sites);
    dropped = Map.copyOf(dropped);
    buildIds = Map.copyOf(buildIds);
  }

  /** Creates a reading without sites, with the reason. */
  public static CallSites none(Instant time, String reason) {
    return new CallSites(time, List.of(), 0, Map.of(), ByteUnit.UNKNOWN, reason);
  }

  /** Returns this reading with other sites: fewer, or in another order. */
  public CallSites with(List<CallSite> others) {
    return new CallSites(time, others, samples, dropped, byteUnit, reason, origin, buildIds);
  }

  /**
   * Returns a copy of this reading that also tells when and how counting began.
   *
   * @param counted the counters, read at about the time of this reading
   */
  public CallSites since(SelfReport self, NativeCounters counted) {
    Origin known =
        self.mode().equals(SelfReport.ATTACHED)
            ? afterAttach(self, counted)
            : new Origin(self.mode(), self.since(), 0);
    return new CallSites(time, sites, samples, dropped, byteUnit, reason, known, buildIds);
  }

  /** Returns this reading with the build ids of libraries. */
  public CallSites withBuildIds(Map<String, String> ids) {
    return new CallSites(time, sites, samples, dropped, byteUnit, reason, origin, ids);
  }

  /**
   * Estimates the live bytes that were allocated before the attach: the live bytes of the process
   * minus the live bytes of all sites. The result is at least 0 and at most the number of bytes
   * live at the attach.
   */
  private Origin afterAttach(SelfReport self, NativeCounters counted) {
    double bytes = 0;
    double objects = 0;
    for (CallSite site : sites) {
      bytes += site.liveBytes().value();
      objects += site.liveObjects().value();
    }
    Baseline baseline = counted.baseline();
    double most = baseline.known() ? baseline.mostBytes() : Double.NaN;
    double live = counted.liveBytes() - bytes - SIZE_WORD * objects;
    return new Origin(self.mode(), self.since(), Math.max(0, Math.min(live, most)));
  }

  /** Returns the sites that contain a text, as in {@link CallSite#mentions}. */
  public CallSites mentioning(String text) {
    return with(sites.stream().filter(site -> site.mentions(text)).toList());
  }

  /** Returns the sites that belong neither to HotSpot nor to mallometer. */
  public CallSites ofApplication() {
    return with(sites.stream().filter(site -> site.codeOwner() == CodeOwner.APPLICATION).toList());
  }

  /** Returns the sites sorted by a value, largest first. */
  public List<CallSite> sortedBy(SiteOrder order) {
    return sites.stream().sorted(order.comparator()).toList();
  }

  /** Returns the site of a number; empty if there is none. */
  public Optional<CallSite> site(int number) {
    return sites.stream().filter(site -> site.number() == number).findFirst();
  }

  /** Returns the groups of the sites, most live bytes first. */
  public List<SiteGroup> groupedBy(Grouping grouping) {
    return groupedBy(grouping::keyOf);
  }

  /** Returns the groups of sites with the same key, most live bytes first. */
  public List<SiteGroup> groupedBy(Function<CallSite, String> keyOf) {
    Map<String, SiteGroup> groups = new LinkedHashMap<>();
    for (CallSite site : sites) {
      String key = keyOf.apply(site);
      groups.merge(key, SiteGroup.of(key, site), SiteGroup::plus);
    }
    return groups.values().stream().sorted(SiteOrder.LIVE.comparator()).toList();
  }
}
