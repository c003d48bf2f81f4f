package io.mallometer.internal.engine;

import io.mallometer.internal.history.SiteHistory;
import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.process.Pause;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Grouping;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SiteTrends;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the call sites as often as they are worth their cost, and when somebody asks.
 *
 * <p>A reading walks the tables of the library and names what is new in them: a millisecond for a
 * thousand sites. So the poller's thread reads every 15 s, or as seldom as keeps its readings under
 * a thousandth of the time, but once a minute: the first reading names everything, takes many times
 * as long as those that follow, and must not keep them waiting. Who asks gets the latest reading if
 * that is younger than a second; there are never two readings at once.
 *
 * <p>In a process with many sites, names of those that hold least come over the first minute or
 * two, unless somebody asks, who gets all at once. Until then such a site is there with its figures
 * and without its stack.
 *
 * <p>The latest reading is held while somebody asks, and for two minutes after. Else it is let go
 * as soon as it is judged, and who wants one reads anew: thousands of objects that every full
 * collection of the heap would mark, for nobody. What is always kept are figures, in arrays, and
 * the names of the few largest.
 */
public final class CallSiteReader {

  static final long PACE_NANOS = 15_000_000_000L;

  private static final long FRESH_NANOS = 1_000_000_000L;
  private static final long LONGEST_NANOS = 60_000_000_000L;
  private static final long HELD_NANOS = 120_000_000_000L;

  /** The most names with most memory, and the most that grew most, for the account. */
  private static final int MOST_HELD = 60;

  private static final CallSites NOTHING = CallSites.none(Instant.EPOCH, "nothing was read yet");

  private final Interposer interposer;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final TopNames topLibraries = new TopNames();
  private final TopNames topSites = new TopNames();
  private final SiteHistory history = new SiteHistory();

  private volatile Optional<SiteSummary> summary = Optional.empty();
  private volatile List<String> applicationPackages = List.of();

  /** Guarded by this, as is all below. */
  private CallSites latest = NOTHING;

  private @Nullable SiteTrends held;

  /** Whether all sites of the latest reading have names. */
  private boolean whole;

  /** How many sites have no stack at all, as of the last reading that named the others. */
  private int stackless;

  private boolean everAsked;
  private long askedAt;

  private boolean everRead;
  private long readAt;
  private long nextByPace;
  private long nextByCost;

  CallSiteReader(Interposer interposer, Clock clock, LongSupplier nanoTime) {
    this.interposer = interposer;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /** Names the sites by the classes of these packages from the next reading on. */
  void nameBy(List<String> packages) {
    applicationPackages = packages;
  }

  /** Who holds most of the live memory, as of the latest reading; empty if that has no sites. */
  Optional<SiteSummary> summary() {
    return summary;
  }

  /** The latest reading if it is younger than a second, else a new one. */
  public synchronized CallSites callSites() {
    hold();
    if (isMissing() || !whole || nanoTime.getAsLong() - readAt >= FRESH_NANOS) {
      read(true);
    }
    return latest;
  }

  /**
   * The latest reading if it is younger than this, else a new one, as far as its cost allows; a new
   * one too where it was let go. For the poller's thread, which lets it go afterwards.
   *
   * @param timeScale by what the pauses are divided
   */
  synchronized CallSites notOlderThan(Duration age, double timeScale) {
    long now = nanoTime.getAsLong();
    double pause = (nextByCost - readAt) / timeScale;
    if (isMissing() || now - readAt >= Math.max(age.toNanos(), pause)) {
      read(timeScale > 1);
    }
    return latest;
  }

  /**
   * Returns whether {@link #notOlderThan} has a reading, or may make one without exceeding the time
   * that readings may take.
   */
  synchronized boolean isAffordable(double timeScale) {
    double pause = (nextByCost - readAt) / timeScale;
    return !isMissing() || !everRead || nanoTime.getAsLong() - readAt >= pause;
  }

  /**
   * The latest reading if it is younger than a second, else a new one; empty if that would cost too
   * much now. For the poller's thread, which lets it go afterwards.
   *
   * @param urgent whether a new one may cost what it will
   */
  synchronized Optional<CallSites> toKeep(boolean urgent) {
    if (isMissing() || nanoTime.getAsLong() - readAt >= FRESH_NANOS) {
      if (!urgent && everRead && !costAllows()) {
        return Optional.empty();
      }
      read(isHeld());
    }
    return Optional.of(latest);
  }

  /** Forgets the latest reading unless somebody asked for it lately. */
  synchronized void letGo() {
    if (!isHeld()) {
      latest = NOTHING;
    }
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

  /** What changed between two moments, the second of which may be now. */
  public synchronized SiteChanges changes(Instant from, Instant to) {
    return history.changes(from, to, callSites());
  }

  /** What changed from so long ago to a reading. */
  public synchronized SiteChanges changes(Duration over, CallSites now) {
    return history.changes(over, now);
  }

  /**
   * What groups of sites held in the last hour and hold now, the first so many of them, by library
   * all sites, else those of the application; as of a reading that is not older than the poller's
   * are. So those who watch cause none but the first.
   */
  public synchronized SiteTrends trends(Grouping grouping, int most) {
    hold();
    CallSites read = whole ? notOlderThan(Duration.ofNanos(PACE_NANOS), 1) : callSites();
    return history.trends(
        grouping == Grouping.LIBRARY ? read : read.ofApplication(), grouping, most);
  }

  /**
   * Returns what the call sites held at each moment that is kept, by name, those with most and
   * those that grew most; as of the latest reading. Empty if no reading was made yet.
   */
  synchronized Optional<SiteTrends> held() {
    return Optional.ofNullable(held);
  }

  /** Reads if it is time. */
  synchronized void readIfDue() {
    long now = nanoTime.getAsLong();
    if (!everRead || now - nextByPace >= 0 && costAllows()) {
      read(isHeld());
    }
  }

  /** A reading that fails costs as much as another. */
  private void read(boolean naming) {
    long start = nanoTime.getAsLong();
    everRead = true;
    readAt = start;
    try {
      CallSites read = interposer.callSites(clock.instant(), applicationPackages, naming);
      int withoutStack = withoutStack(read);
      if (naming) {
        stackless = withoutStack;
      }
      whole = withoutStack <= stackless;
      publish(read, start);
    } finally {
      long end = nanoTime.getAsLong();
      nextByPace = start + PACE_NANOS;
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
    held = history.trends(latest, Grouping.SITE, MOST_HELD);
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
            named.subList(0, Math.min(SiteSummary.LARGEST, named.size())),
            read.origin().allocatedBeforeBytes()));
  }
}
