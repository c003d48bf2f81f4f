package io.mallometer.internal.engine;

import io.mallometer.internal.history.SiteHistory;
import io.mallometer.internal.history.SiteReadings;
import io.mallometer.internal.history.TopNames;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.Pause;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Grouping;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.Mapped;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the call sites on request, and every 15 s when the resident set is divided into its parts.
 * A reading takes a millisecond for a thousand sites. Regular readings that would take more than a
 * thousandth of the time come less often, but at least every 30 s. A request gets the latest
 * reading if that is younger than a second.
 *
 * <p>In a process with many sites, the sites with the least memory get names over the first minute
 * or two, or when a caller requests sites. A site without a name has figures and no stack.
 *
 * <p>The latest reading has thousands of objects, which each full garbage collection would mark.
 * The reading is therefore dropped at the end of a poll, unless call sites were requested in the
 * last two minutes. The figures of all sites, in arrays, and the names of the few largest sites are
 * always kept.
 */
public final class CallSiteReader implements SnapshotReader, SiteReadings {

  static final long PACE_NANOS = 15_000_000_000L;

  /**
   * Call sites are read again after this time, if the cost allows it. Usually they are read
   * earlier: each time the resident set is divided into its parts, which happens every 15 s.
   */
  private static final long LATE_NANOS = 20_000_000_000L;

  private static final long FRESH_NANOS = 1_000_000_000L;
  private static final long LONGEST_NANOS = 30_000_000_000L;
  private static final long HELD_NANOS = 120_000_000_000L;

  /**
   * The diagnosis examines this many call sites with the most live memory, and an equal number of
   * call sites that grew most.
   */
  private static final int MOST_HELD = 60;

  private static final CallSites NOTHING = CallSites.none(Instant.EPOCH, "nothing was read yet");

  private final NativeLibrary library;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final TopNames topLibraries = new TopNames();
  private final TopNames topSites = new TopNames();
  private final TopNames topResident =
      new TopNames(SiteSummary.TOP_RESIDENT, SiteSummary.STAYING_RESIDENT);
  private final SiteHistory history = new SiteHistory();

  private volatile Optional<SiteSummary> summary = Optional.empty();
  private volatile List<String> applicationPackages = List.of();

  /**
   * Supplies names for memory pools, such as Netty's. The keys are the numbers of the call sites
   * that allocated chunks for a pool. The value is the name under which these call sites are
   * grouped.
   */
  private volatile Supplier<Map<Integer, String>> chunksBySite = Map::of;

  /** The time at which the resident set was last divided into its parts. */
  private Optional<Instant> division = Optional.empty();

  /** The resident memory that each call site mapped, at the time stored in {@link #division}. */
  private volatile List<Mapped> mapped = List.of();

  /** The latest reading. Guarded by this, like the fields below. */
  private CallSites latest = NOTHING;

  private @Nullable SiteTrends held;

  /** Whether all sites of the latest reading have names. */
  private boolean whole;

  /** The number of sites without a stack at the latest reading that named the sites. */
  private int stackless;

  private boolean everAsked;
  private long askedAt;

  private boolean everRead;
  private long readAt;
  private long nextByPace;
  private long nextByCost;

  public CallSiteReader(NativeLibrary library, Clock clock, LongSupplier nanoTime) {
    this.library = library;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /**
   * Makes the diagnosis count all sites that allocated chunks of a pool as one.
   *
   * @param bySite returns the name of the group by the number of a site
   */
  void groupChunks(Supplier<Map<Integer, String>> bySite) {
    chunksBySite = bySite;
  }

  @Override
  public String failure() {
    return "The call sites cannot be read; the last reading stays";
  }

  /**
   * Returns 2. The first poll loads the classes that divide the resident set; loading the classes
   * for call sites as well would slow the program's start.
   */
  @Override
  public int firstPoll() {
    return 2;
  }

  /**
   * Reads the call sites if a reading of them is due. It usually is due just after the resident set
   * was divided into its parts, so the diagnosis compares values of the same moment.
   */
  @Override
  public void read(Snapshot soFar) {
    Optional<ResidentMemory> resident = soFar.memory().resident();
    Optional<Instant> divided = resident.map(ResidentMemory::time);
    mapped = resident.flatMap(ResidentMemory::mapped).orElse(List.of());
    boolean fresh = divided.isPresent() && !divided.equals(division);
    division = divided;
    if (library.present()) {
      readIfDue(fresh);
    }
  }

  @Override
  public Snapshot show(Snapshot snapshot) {
    Optional<SiteSummary> sites = summary;
    return sites.isPresent() && snapshot.status().active() ? snapshot.with(sites.get()) : snapshot;
  }

  Optional<SiteSummary> summary() {
    return summary;
  }

  @Override
  public boolean renew() {
    return true;
  }

  @Override
  public void published(Snapshot snapshot) {
    letGo();
  }

  synchronized void letGo() {
    if (!isHeld()) {
      latest = NOTHING;
    }
  }

  /**
   * Sets the application's packages. From the next reading on, a site is named by its first frame
   * in these packages.
   */
  @Override
  public void configure(Optional<MallometerOptions> options) {
    applicationPackages =
        options.isPresent() ? options.get().get(Setting.APPLICATION_PACKAGES) : applicationPackages;
  }

  @Override
  public synchronized CallSites callSites() {
    hold();
    if (isMissing() || !whole || nanoTime.getAsLong() - readAt >= FRESH_NANOS) {
      read(true);
    }
    return latest;
  }

  @Override
  public synchronized CallSites callSitesNow() {
    hold();
    read(true);
    return latest;
  }

  @Override
  public synchronized CallSites notOlderThan(Duration age, double timeScale) {
    long now = nanoTime.getAsLong();
    double pause = (nextByCost - readAt) / timeScale;
    if (isMissing() || now - readAt >= Math.max(age.toNanos(), pause)) {
      read(timeScale > 1);
    }
    return latest;
  }

  @Override
  public synchronized boolean isAffordable(double timeScale) {
    double pause = (nextByCost - readAt) / timeScale;
    return !isMissing() || !everRead || nanoTime.getAsLong() - readAt >= pause;
  }

  @Override
  public synchronized Optional<CallSites> toKeep(boolean urgent) {
    if (urgent || isMissing() || nanoTime.getAsLong() - readAt >= FRESH_NANOS) {
      if (!urgent && everRead && !costAllows()) {
        return Optional.empty();
      }
      read(isHeld());
    }
    return Optional.of(latest);
  }

  private boolean isHeld() {
    return everAsked && nanoTime.getAsLong() - askedAt < HELD_NANOS;
  }

  private void hold() {
    everAsked = true;
    askedAt = nanoTime.getAsLong();
  }

  private boolean isMissing() {
    return latest == NOTHING;
  }

  private boolean costAllows() {
    return nanoTime.getAsLong() - nextByCost >= 0;
  }

  public synchronized SiteChanges changes(Instant from, Instant to) {
    return history.changes(from, to, callSites());
  }

  public synchronized SiteChanges changes(Duration over, CallSites now) {
    return history.changes(over, now);
  }

  /**
   * Returns the live bytes of groups of sites in the last hour and now: at most {@code most} groups
   * with the most live bytes, and at most {@code most} groups that grew most. Groups by library
   * contain all sites; all other groups contain only sites of the application.
   */
  public synchronized SiteTrends trends(Grouping grouping, int most) {
    hold();
    CallSites read = whole ? notOlderThan(Duration.ofNanos(PACE_NANOS), 1) : callSites();
    return history.trends(
        grouping == Grouping.LIBRARY ? read : read.ofApplication(), grouping::keyOf, most);
  }

  /**
   * Returns the live bytes over time of the call sites with most live bytes, and of those that grew
   * most. Empty before the first reading.
   */
  synchronized Optional<SiteTrends> held() {
    return Optional.ofNullable(held);
  }

  /**
   * Reads the call sites if a reading is due. The first reading is due at once. A later one is due
   * if {@code divided} is true, or if the previous one is {@link #LATE_NANOS} old. It also requires
   * that {@link #costAllows} returns true.
   *
   * @param divided whether the resident set was just divided into its parts
   */
  synchronized void readIfDue(boolean divided) {
    if (!everRead || costAllows() && (divided || nanoTime.getAsLong() - nextByPace >= 0)) {
      read(isHeld());
    }
  }

  private void read(boolean naming) {
    long start = nanoTime.getAsLong();
    everRead = true;
    readAt = start;
    try {
      CallSites read = library.callSites(clock.instant(), applicationPackages, naming);
      int withoutStack = withoutStack(read);
      if (naming) {
        stackless = withoutStack;
      }
      whole = withoutStack <= stackless;
      publish(read, start);
    } finally {
      long end = nanoTime.getAsLong();
      nextByPace = start + LATE_NANOS;
      nextByCost = end + Pause.after(end - start, 0, LONGEST_NANOS);
    }
  }

  private static int withoutStack(CallSites read) {
    int count = 0;
    for (CallSite site : read.sites()) {
      if (site.frames().isEmpty()) {
        count++;
      }
    }
    return count;
  }

  private void publish(CallSites read, long nanos) {
    latest = history.withRates(read, nanos);
    summary = summary(latest);
    history.add(latest, nanos);
    Map<Integer, String> chunks = chunksBySite.get();
    held =
        history.trends(
            latest,
            site -> chunks.getOrDefault(site.number(), Grouping.SITE.keyOf(site)),
            MOST_HELD);
  }

  private Map<String, Double> resident(CallSites read) {
    Map<String, Double> bytes = new LinkedHashMap<>();
    if (read.sites().stream().anyMatch(site -> site.residentBytes().value() > 0)) {
      for (SiteSummary.Share share :
          topResident.choose(TopNames.rankedResident(read.sites(), mapped))) {
        bytes.put(share.name(), share.liveBytes());
      }
    }
    return bytes;
  }

  private Optional<SiteSummary> summary(CallSites read) {
    if (read.sites().isEmpty()) {
      return Optional.empty();
    }
    List<SiteSummary.Share> sites = TopNames.rankedSites(read.sites());
    List<SiteSummary.Share> named = new ArrayList<>(sites);
    named.removeIf(share -> share.name().equals(SiteSummary.OTHER));
    return Optional.of(
        new SiteSummary(
            read.time(),
            topLibraries.choose(
                TopNames.ranked(
                    read.sites(),
                    site -> site.frames().isEmpty() ? SiteSummary.OTHER : site.library())),
            topSites.choose(sites),
            resident(read),
            named.subList(0, Math.min(SiteSummary.LARGEST, named.size())),
            read.origin().allocatedBeforeBytes()));
  }
}
