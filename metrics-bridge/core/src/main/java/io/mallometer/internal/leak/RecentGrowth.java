package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds growing sites: many of their live samples were allocated in the last minutes, at an even
 * rate, and few earlier objects were freed.
 *
 * <p>After an attach, the live bytes of every site begin at 0, so objects that replace objects from
 * before the attach look like growth. {@link ReplacedBytes} estimates this part of an increase.
 *
 * <p>All readings of the last minutes are kept, and some of the last hour.
 */
final class RecentGrowth {

  private static final double NANOS = 1e9;
  private static final double HOUR = 3_600;
  private static final int QUARTERS = 4;

  /** The time for which all readings are stored, in seconds; {@code leak.time-scale} divides it. */
  private static final double ALL_SECONDS = 180;

  /**
   * Readings that are kept for an hour are at least this many seconds apart; {@code
   * leak.time-scale} divides both times.
   */
  private static final double APART_SECONDS = 150;

  /**
   * A reading of all sites' live samples.
   *
   * @param bytes the bytes of each site, by its array index. If a new site gets the index of an old
   *     one, its growth looks too small
   * @param variances the variances of the bytes, by index; empty without an attach
   * @param lasts whether the reading is kept for an hour
   */
  private record Reading(
      double seconds, float[] bytes, float[] variances, Evidence.Counted counted, boolean lasts) {

    double of(List<Integer> sites) {
      double sum = 0;
      for (int site : sites) {
        sum += of(bytes, SampledObject.arrayIndex(site));
      }
      return sum;
    }

    static float of(float[] figures, int place) {
      return place < figures.length ? figures[place] : 0;
    }
  }

  private final double timeScale;
  private final Deque<Reading> latestFirst = new ArrayDeque<>();
  private SamplesBySite latestSamples = new SamplesBySite(List.of());

  /** Maps an earlier reading to the {@link ReplacedBytes} between it and the latest reading. */
  private final Map<Reading, ReplacedBytes> replaced = new IdentityHashMap<>();

  private double latestThatLasts = Double.NEGATIVE_INFINITY;

  RecentGrowth(double timeScale) {
    this.timeScale = timeScale;
  }

  /**
   * Adds a reading.
   *
   * @param counted the exact counters of about the same moment
   * @param seconds the moment by {@link System#nanoTime()}
   */
  void add(SamplesBySite samples, Evidence.Counted counted, double seconds) {
    boolean lasts = seconds - latestThatLasts >= APART_SECONDS / timeScale;
    latestThatLasts = lasts ? seconds : latestThatLasts;
    boolean attached = counted.mostBeforeBytes() > 0;
    float[] variances = attached ? samples.variances(seconds) : new float[0];
    latestFirst.addFirst(new Reading(seconds, samples.bytes(), variances, counted, lasts));
    latestSamples = samples;
    replaced.clear();
    latestFirst.removeIf(
        reading -> !reading.lasts() && seconds - reading.seconds() > ALL_SECONDS / timeScale);
    while (secondToLast().seconds() <= seconds - longest()) {
      latestFirst.removeLast();
    }
  }

  private Reading secondToLast() {
    Iterator<Reading> oldestFirst = latestFirst.descendingIterator();
    Reading last = oldestFirst.next();
    return oldestFirst.hasNext() ? oldestFirst.next() : last;
  }

  private double longest() {
    double[] windows = LeakThresholds.GROWTH_SECONDS;
    return windows[windows.length - 1] / timeScale;
  }

  SamplesBySite latestSamples() {
    return latestSamples;
  }

  int readings() {
    return latestFirst.size();
  }

  /**
   * Returns the increase of several sites together over the shortest window in which they grow;
   * empty if they grow in no window.
   *
   * @param live the live samples of these sites
   */
  Optional<Increase> increaseOf(List<Integer> sites, List<SampledObject> live) {
    if (live.size() < LeakThresholds.FEWEST_BORN) {
      return Optional.empty();
    }
    for (double window : LeakThresholds.GROWTH_SECONDS) {
      Optional<Increase> found = increaseSince(window / timeScale, sites, live);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private Optional<Increase> increaseSince(
      double least, List<Integer> sites, List<SampledObject> live) {
    Reading now = latestFirst.element();
    for (Reading then : latestFirst) {
      if (then.seconds() <= now.seconds() - least) {
        return increase(then, now, sites, live);
      }
    }
    return Optional.empty();
  }

  /**
   * Returns the growth rate of several sites together, over the last minutes, or longer if samples
   * are few. Growth has stopped if the latest sample is much older than the mean gap between
   * samples.
   */
  GrowthRate rateOf(List<Integer> sites, List<SampledObject> live) {
    if (live.size() < LeakThresholds.FEWEST_FOR_GROWTH) {
      return GrowthRate.UNKNOWN;
    }
    Reading now = latestFirst.element();
    double[] ages =
        live.stream().mapToDouble(object -> now.seconds() - object.bornNanos() / NANOS).toArray();
    Arrays.sort(ages);
    int last = Math.min(ages.length - 1, LeakThresholds.LATEST_SAMPLES);
    double apart = (ages[last] - ages[0]) / last;
    double shortest = LeakThresholds.GROWTH_RATE_SECONDS / timeScale;
    if (ages[0] > Math.max(shortest / 2, LeakThresholds.QUIET_GAPS * apart)) {
      return GrowthRate.still(ages[0]);
    }
    double window = Math.max(shortest, LeakThresholds.LATEST_SAMPLES * apart);
    Reading then = latestFirst.getLast();
    for (Reading reading : latestFirst) {
      if (reading.seconds() <= now.seconds() - window) {
        then = reading;
        break;
      }
    }
    double seconds = now.seconds() - then.seconds();
    if (seconds < shortest / 2) {
      return GrowthRate.UNKNOWN;
    }
    double increase = now.of(sites) - then.of(sites) - replacedSince(then).leastBytes(sites);
    return increase > 0 ? GrowthRate.growing(increase / seconds * HOUR) : GrowthRate.still(seconds);
  }

  private ReplacedBytes replacedSince(Reading then) {
    return replaced.computeIfAbsent(then, this::compare);
  }

  /**
   * Compares an earlier reading with the latest. Samples that are live at both readings cancel each
   * other out, so they do not add to the variance.
   */
  private ReplacedBytes compare(Reading then) {
    Reading now = latestFirst.element();
    boolean attached = now.counted().mostBeforeBytes() > 0;
    float[] lasting = attached ? latestSamples.variances(then.seconds()) : new float[0];
    int sites = attached ? Math.max(now.bytes().length, then.bytes().length) : 0;
    float[] changes = new float[sites];
    float[] variances = new float[sites];
    for (int site = 0; site < sites; site++) {
      changes[site] = Reading.of(now.bytes(), site) - Reading.of(then.bytes(), site);
      float born = Reading.of(now.variances(), site) - Reading.of(lasting, site);
      float freed = Reading.of(then.variances(), site) - Reading.of(lasting, site);
      variances[site] = Math.max(0, born) + Math.max(0, freed);
    }
    return new ReplacedBytes(
        changes,
        variances,
        now.counted().netBytes() - then.counted().netBytes(),
        now.counted().mostBeforeBytes());
  }

  private Optional<Increase> increase(
      Reading then, Reading now, List<Integer> sites, List<SampledObject> live) {
    double window = now.seconds() - then.seconds();
    long[] quarters = new long[QUARTERS];
    double bornBytes = 0;
    double weights = 0;
    double squares = 0;
    for (SampledObject object : live) {
      double age = now.seconds() - object.bornNanos() / NANOS;
      if (age < window) {
        quarters[Math.max(0, Math.min(QUARTERS - 1, (int) (QUARTERS * (1 - age / window))))]++;
        weights += object.weight();
        squares += object.weight() * object.weight();
        bornBytes += object.weight() * object.bytes();
      }
    }
    double increase = now.of(sites) - then.of(sites);
    ReplacedBytes olderObjects = replacedSince(then);
    boolean grows =
        isEven(quarters)
            && weights * weights / squares >= LeakThresholds.FEWEST_EFFECTIVE_BORN
            && increase >= LeakThresholds.KEPT_SHARE_OF_BORN * bornBytes
            && increase >= LeakThresholds.LEAST_BYTES + olderObjects.mostBytes(sites);
    return grows
        ? Optional.of(
            new Increase(window, increase - olderObjects.leastBytes(sites), sum(quarters)))
        : Optional.empty();
  }

  private static boolean isEven(long[] quarters) {
    long born = sum(quarters);
    int few = 0;
    for (long quarter : quarters) {
      if (quarter == 0 || quarter > LeakThresholds.MOST_IN_A_QUARTER * born) {
        return false;
      }
      few += quarter == 1 ? 1 : 0;
    }
    return born >= LeakThresholds.FEWEST_BORN && few <= 1;
  }

  private static long sum(long[] quarters) {
    long sum = 0;
    for (long quarter : quarters) {
      sum += quarter;
    }
    return sum;
  }
}
