package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.Evidence;
import io.mallometer.internal.interposer.SampledObject;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether sites hold ever more, by their live samples: many were born in the last minutes, evenly,
 * and few of those that were there before are gone. {@link LeakThresholds} says how many.
 *
 * <p>After an attach a site begins at 0, however much its code holds: what replaces objects that
 * were allocated before looks like growth until all of those are gone. {@link Replaced} says how
 * much of an increase that is.
 *
 * <p>Of the sites' bytes the readings of the last minutes are kept, and of the last hour some.
 */
final class RecentGrowth {

  private static final double NANOS = 1e9;
  private static final double HOUR = 3_600;
  private static final int QUARTERS = 4;

  /** All readings are kept for so many seconds, divided by the time scale. */
  private static final double ALL_SECONDS = 180;

  /** Readings that are kept for longer are so many seconds apart, or more. */
  private static final double APART_SECONDS = 150;

  /**
   * What was live.
   *
   * @param bytes those of the live samples, by the place of the site. What a site had that was
   *     forgotten since makes the growth of the site in its place look less
   * @param variances of these; empty without an attach, where nothing needs them
   * @param stays whether it is kept for an hour
   */
  private record Reading(
      double seconds, float[] bytes, float[] variances, Evidence.Counted counted, boolean stays) {

    double of(int site) {
      return of(bytes, site);
    }

    static float of(float[] figures, int site) {
      int place = SampledObject.placeOf(site);
      return place < figures.length ? figures[place] : 0;
    }
  }

  private final double timeScale;
  private final Deque<Reading> latestFirst = new ArrayDeque<>();
  private SamplesBySite latest = new SamplesBySite(List.of());

  /** By the earlier reading, since when; the later one is the latest. */
  private final Map<Reading, Replaced> replaced = new IdentityHashMap<>();

  private double latestThatStays = Double.NEGATIVE_INFINITY;

  RecentGrowth(double timeScale) {
    this.timeScale = timeScale;
  }

  /**
   * Adds a reading.
   *
   * @param counted at about the same moment
   * @param seconds by {@link System#nanoTime()}
   */
  void add(SamplesBySite samples, Evidence.Counted counted, double seconds) {
    boolean stays = seconds - latestThatStays >= APART_SECONDS / timeScale;
    latestThatStays = stays ? seconds : latestThatStays;
    boolean attached = counted.mostBeforeBytes() > 0;
    float[] variances = attached ? samples.variances(seconds) : new float[0];
    latestFirst.addFirst(new Reading(seconds, samples.bytes(), variances, counted, stays));
    latest = samples;
    replaced.clear();
    latestFirst.removeIf(
        reading -> !reading.stays() && seconds - reading.seconds() > ALL_SECONDS / timeScale);
    while (secondToLast().seconds() <= seconds - longest()) {
      latestFirst.removeLast();
    }
  }

  /** The last is the only one that is older than the longest time. */
  private Reading secondToLast() {
    Iterator<Reading> oldestFirst = latestFirst.descendingIterator();
    Reading last = oldestFirst.next();
    return oldestFirst.hasNext() ? oldestFirst.next() : last;
  }

  private double longest() {
    double[] windows = LeakThresholds.GROWTH_SECONDS;
    return windows[windows.length - 1] / timeScale;
  }

  /** How many are kept. */
  int readings() {
    return latestFirst.size();
  }

  /** The increase of a site in the shortest time in which it is one; empty if it is none. */
  Optional<Increase> of(int site, List<SampledObject> live) {
    if (live.size() < LeakThresholds.FEWEST_BORN) {
      return Optional.empty();
    }
    for (double window : LeakThresholds.GROWTH_SECONDS) {
      Optional<Increase> found = since(window / timeScale, site, live);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private Optional<Increase> since(double least, int site, List<SampledObject> live) {
    Reading now = latestFirst.element();
    for (Reading then : latestFirst) {
      if (then.seconds() <= now.seconds() - least) {
        return increase(then, now, site, live);
      }
    }
    return Optional.empty();
  }

  /**
   * How fast sites taken together grow. Where the latest live sample is much older than samples
   * were apart before, they have not grown since; else the rate is that of the last minutes, or of
   * the time in which the latest samples were born, if they are few.
   *
   * @param live their live samples
   */
  Pace pace(List<Integer> sites, List<SampledObject> live) {
    if (live.size() < LeakThresholds.FEWEST_FOR_GROWTH) {
      return Pace.UNKNOWN;
    }
    Reading now = latestFirst.element();
    double[] ages =
        live.stream().mapToDouble(object -> now.seconds() - object.bornNanos() / NANOS).toArray();
    Arrays.sort(ages);
    int last = Math.min(ages.length - 1, LeakThresholds.LATEST_SAMPLES);
    double apart = (ages[last] - ages[0]) / last;
    double shortest = LeakThresholds.PACE_OF_GROWTH_SECONDS / timeScale;
    if (ages[0] > Math.max(shortest / 2, LeakThresholds.QUIET_GAPS * apart)) {
      return Pace.still(ages[0]);
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
      return Pace.UNKNOWN;
    }
    double more = -replacedSince(then).least(sites);
    for (int site : sites) {
      more += now.of(site) - then.of(site);
    }
    return more > 0 ? Pace.growing(more / seconds * HOUR) : Pace.still(seconds);
  }

  private Replaced replacedSince(Reading then) {
    return replaced.computeIfAbsent(then, this::compare);
  }

  /** Of a difference, samples that are live at both readings have no part in the variance. */
  private Replaced compare(Reading then) {
    Reading now = latestFirst.element();
    boolean attached = now.counted().mostBeforeBytes() > 0;
    float[] lasting = attached ? latest.variances(then.seconds()) : new float[0];
    int sites = attached ? Math.max(now.bytes().length, then.bytes().length) : 0;
    float[] changes = new float[sites];
    float[] variances = new float[sites];
    for (int site = 0; site < sites; site++) {
      changes[site] = Reading.of(now.bytes(), site) - Reading.of(then.bytes(), site);
      float born = Reading.of(now.variances(), site) - Reading.of(lasting, site);
      float freed = Reading.of(then.variances(), site) - Reading.of(lasting, site);
      variances[site] = Math.max(0, born) + Math.max(0, freed);
    }
    return new Replaced(
        changes,
        variances,
        now.counted().netBytes() - then.counted().netBytes(),
        now.counted().mostBeforeBytes());
  }

  private Optional<Increase> increase(
      Reading then, Reading now, int site, List<SampledObject> live) {
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
    double increase = now.of(site) - then.of(site);
    Replaced olderObjects = replacedSince(then);
    boolean grows =
        isEven(quarters)
            && weights * weights / squares >= LeakThresholds.FEWEST_EFFECTIVE_BORN
            && increase >= LeakThresholds.KEPT_OF_BORN * bornBytes
            && increase >= LeakThresholds.LEAST_BYTES + olderObjects.most(site);
    return grows
        ? Optional.of(
            new Increase(window, increase - olderObjects.least(List.of(site)), sum(quarters)))
        : Optional.empty();
  }

  /** Many, some in each quarter of the time, and no burst. */
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
