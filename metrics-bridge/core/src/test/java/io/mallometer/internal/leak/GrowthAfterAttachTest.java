package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Measures how often the verdict {@code GROWING} is wrong after an attach. The simulated processes
 * have leaks, short-lived objects, and a cache that replaces objects from before the attach.
 */
@Tag("any-jdk")
@Tag("long")
class GrowthAfterAttachTest {

  private static final double MIB = 1 << 20;
  private static final double INTERVAL = 512 << 10;
  private static final double STEP = 15;
  private static final int MOST_STEPS = 200;
  private static final double BASE = 1_000;
  private static final double TURNOVER = 600;
  private static final int RUNS = 20;

  private final Random random = new Random(1);

  /**
   * A site that allocates at a steady rate. Objects live for {@link #lifeSeconds}, or for a random
   * time with this mean.
   */
  private final class Site {
    final int number;
    final double bytesPerSecond;
    final long bytes;
    final double lifeSeconds;
    final boolean random;
    private final int[] deathsByStep = new int[MOST_STEPS];
    private int live;

    private final List<Sample> sampled = new ArrayList<>();

    private double next;

    Site(int number, double bytesPerSecond, double bytes, double lifeSeconds, boolean random) {
      this.number = number;
      this.bytesPerSecond = bytesPerSecond;
      this.bytes = (long) bytes;
      this.lifeSeconds = lifeSeconds;
      this.random = random;
    }

    void advance(double now) {
      double probability = Math.min(1, bytes / INTERVAL);
      for (; next <= now; next += bytes / bytesPerSecond) {
        double death = next + (random ? lifeSeconds * -Math.log(1 - random()) : lifeSeconds);
        live++;
        if (death < MOST_STEPS * STEP) {
          deathsByStep[(int) Math.ceil(death / STEP)]++;
        }
        if (random() < probability) {
          long born = Math.round((BASE + next) * 1e9);
          sampled.add(new Sample(new SampledObject(number, bytes, probability, 0, born, 0), death));
        }
      }
      live -= deathsByStep[(int) (now / STEP)];
      sampled.removeIf(sample -> sample.death() <= now);
    }

    private double random() {
      return GrowthAfterAttachTest.this.random.nextDouble();
    }

    double live() {
      return live * (double) bytes;
    }
  }

  private record Sample(SampledObject object, double death) {}

  private final class Process {
    final List<Site> sites = new ArrayList<>();
    final double before;
    private final double cache;
    private final RecentGrowth growth = new RecentGrowth(1);
    private double now;
    private SamplesBySite samples = new SamplesBySite(List.of());

    /**
     * Creates a process.
     *
     * @param before the live bytes at the attach
     * @param cache the part of {@code before} that belongs to a cache. The cache frees these bytes
     *     at a constant rate, the last ones {@link #TURNOVER} seconds after the attach
     */
    Process(double before, double cache) {
      this.before = before;
      this.cache = cache;
    }

    Site add(double bytesPerSecond, double bytes, double lifeSeconds, boolean random) {
      Site site = new Site(sites.size(), bytesPerSecond, bytes, lifeSeconds, random);
      sites.add(site);
      return site;
    }

    void advance() {
      now += STEP;
      List<SampledObject> all = new ArrayList<>();
      double live = 0;
      for (Site site : sites) {
        site.advance(now);
        live += site.live();
        site.sampled.forEach(sample -> all.add(sample.object()));
      }
      double freed = cache * Math.min(1, now / TURNOVER);
      samples = new SamplesBySite(all);
      growth.add(samples, new Evidence.Counted(live - freed, before), BASE + now);
    }

    boolean grows(Site site) {
      return now > 0
          && growth.increaseOf(List.of(site.number), samples.of(site.number)).isPresent();
    }

    GrowthRate rateOf(Site site) {
      return growth.rateOf(List.of(site.number), samples.of(site.number));
    }
  }

  private static final double LEAK = 24 * MIB / 60;
  private static final double SLOW_LEAK = 3 * MIB / 60;

  /**
   * Returns a process that leaks objects of 16 KiB. Half of the live bytes belong to a cache that
   * replaces all its entries within ten minutes. A twentieth of the live bytes are short-lived
   * objects.
   */
  private Process leakBesideCache(double live, double leak) {
    Process process = new Process(live, live / 2);
    process.add(leak, 16 << 10, 1e9, false);
    process.add(live / 2 / TURNOVER, 64 << 10, TURNOVER, false);
    process.add(live / 20 / 30, 32 << 10, 30, true);
    return process;
  }

  private Process leakAlone(double live) {
    Process process = new Process(live, 0);
    process.add(LEAK, 16 << 10, 1e9, false);
    process.add(live / 20 / 30, 32 << 10, 30, true);
    return process;
  }

  /** The cache is judged for twice as long beside the faster leak. */
  @ParameterizedTest
  @ValueSource(doubles = {0.1, 1, 4})
  void nineteenOfTwentyRatesAreWithinHalfOfTheTruthAndACacheThatReplacesItsEntriesNeverGrows(
      double gib) {
    for (double leak : new double[] {LEAK, SLOW_LEAK}) {
      int right = 0;
      int rates = 0;
      int wrong = 0;
      for (int run = 0; run < RUNS; run++) {
        Process process = leakBesideCache(gib * 1024 * MIB, leak);
        int steps = leak == LEAK ? 120 : 60;
        for (int step = 0; step < steps; step++) {
          process.advance();
          wrong += process.grows(process.sites.get(1)) ? 1 : 0;
          if (step >= 20 && step < 60) {
            double rate = process.rateOf(process.sites.get(0)).bytesPerHour() / 3_600 / leak;
            rates++;
            right += rate >= 1 / 1.5 && rate <= 1.5 ? 1 : 0;
          }
        }
      }
      System.out.printf(
          Locale.ROOT,
          "%.1f GiB: %d of %d rates right, %d looks wrong%n",
          gib,
          right,
          rates,
          wrong);
      assertThat(right / (double) rates).isGreaterThanOrEqualTo(0.95);
      assertThat(wrong).isZero();
    }
  }

  /** The sampling error of the other sites must not hide the growth of a leak. */
  @ParameterizedTest
  @ValueSource(doubles = {0.1, 1, 4})
  void aLeakGrowsWithinFiveMinutes(double gib) {
    int latest = 0;
    for (int run = 0; run < RUNS; run++) {
      Process process = leakAlone(gib * 1024 * MIB);
      int steps = 0;
      while (!process.grows(process.sites.get(0))) {
        process.advance();
        steps++;
        assertThat(steps * STEP).isLessThanOrEqualTo(300);
      }
      latest = Math.max(latest, steps);
    }
    System.out.printf(
        Locale.ROOT, "%.1f GiB: grows after %.0f s at the latest%n", gib, latest * STEP);
  }
}
