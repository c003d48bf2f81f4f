package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Simulates two hours of a process with three call sites of each kind. Measures which leaks are
 * found and when, and asserts that hardly any healthy site is called a leak.
 *
 * <p>A first simulation can observe all sampled objects, and a second one only few of them. A third
 * one lasts an hour and already knows the leaks that the first one found. The mix of kinds is
 * invented, so the measured shares need not hold for real programs.
 */
@Tag("any-jdk")
@Tag("long")
class VerdictSimulationTest {

  /** The seed; {@code -Dsoak.seed=8} simulates another process. */
  private static final long SEED = Long.getLong("soak.seed", 6);

  private static final int SITES_OF_A_KIND = 3;
  private static final double MINUTE = 60;
  private static final double TWO_HOURS = 7_200;

  /**
   * The share of observation periods (epochs) in which no access is seen. For example, {@code
   * -Dsoak.void=0.2} sets it to a fifth.
   */
  private static final double VOID_SHARE =
      Double.parseDouble(System.getProperty("soak.void", "0.01"));

  private static final Simulation AMPLE = new Simulation(SEED, 1 << 20);
  private static final Simulation SHORT = new Simulation(SEED, 2_500);
  private static final Simulation AGAIN = new Simulation(SEED + 100, 1 << 20);
  private static final Simulation TWO = new Simulation(SEED + 200, 1 << 20);
  private static final List<Simulation> ALL = List.of(AMPLE, SHORT, AGAIN);

  private static final class Outcome {
    final SimulatedKind kind;
    final String with;
    final Map<Verdict, Double> first = new EnumMap<>(Verdict.class);
    Verdict last = Verdict.HEALTHY;
    int givenUp;

    Outcome(SimulatedKind kind, String with) {
      this.kind = kind;
      this.with = with;
    }

    void note(Verdict verdict, double seconds) {
      givenUp += last == Verdict.LEAK && verdict != Verdict.LEAK ? 1 : 0;
      first.putIfAbsent(verdict, seconds / MINUTE);
      last = verdict;
    }

    boolean was(Verdict verdict) {
      return first.containsKey(verdict);
    }
  }

  private static final class Simulation {
    final Map<String, Outcome> outcomes = new LinkedHashMap<>();
    final SimulatedProcess process;
    final KnownLeaks known = new KnownLeaks();
    final List<SimulatedProcess.Site> sites = new ArrayList<>();
    double ratioOfWeights;

    Simulation(long seed, int slots) {
      process = new SimulatedProcess(seed, VOID_SHARE, slots);
    }

    void liveWithEachKind(double seconds) {
      for (SimulatedKind kind : SimulatedKinds.ALL) {
        for (int i = 0; i < SITES_OF_A_KIND; i++) {
          add(kind);
        }
      }
      live(seconds);
    }

    /**
     * Simulates pairs of call sites with the same name. The objects of one site stay and are never
     * used again, and the objects of the other look like leaks for some minutes.
     */
    void liveWithTwoKindsOfEachName() {
      for (SimulatedKind once : SimulatedKinds.MADE_ONCE) {
        for (SimulatedKind waits : SimulatedKinds.ALL) {
          if (waits.name().endsWith(" min") && waits.stacks() == 1) {
            add(waits, once);
          }
        }
      }
      live(0.75 * TWO_HOURS);
    }

    private void add(SimulatedKind... kinds) {
      String name = "Kind" + outcomes.size() + ".of" + kinds.length;
      for (SimulatedKind kind : kinds) {
        sites.addAll(process.add(kind, name));
      }
      outcomes.put(name, new Outcome(kinds[0], kinds[kinds.length - 1].name()));
    }

    private void live(double seconds) {
      LeakDetector detector = new LeakDetector(MallometerOptions.defaults(), known);
      while (process.seconds() < seconds) {
        process.passEpoch();
        note(
            detector.evaluate(
                process.evidence(),
                process.callSites(),
                process.time(),
                LatestAccesses.unavailable("a simulation"),
                name -> false));
      }
      sites.forEach(site -> ratioOfWeights = Math.max(ratioOfWeights, site.ratioOfWeights()));
    }

    private void note(LeakReport report) {
      Map<String, Verdict> worst = new HashMap<>();
      for (SiteVerdict site : report.sites()) {
        worst.merge(site.site().name(), site.verdict(), VerdictSimulationTest::worse);
      }
      outcomes.forEach(
          (name, outcome) ->
              outcome.note(worst.getOrDefault(name, Verdict.HEALTHY), process.seconds()));
    }

    List<Outcome> that(boolean leak) {
      return outcomes.values().stream().filter(outcome -> outcome.kind.leaks() == leak).toList();
    }

    void print() {
      System.out.printf(Locale.ROOT, "weights differ by up to %.0f%n", ratioOfWeights);
      for (SimulatedKind kind : SimulatedKinds.ALL) {
        List<Outcome> all = outcomes.values().stream().filter(one -> one.kind == kind).toList();
        Map<Verdict, Integer> last = new EnumMap<>(Verdict.class);
        all.forEach(outcome -> last.merge(outcome.last, 1, Integer::sum));
        System.out.printf(
            Locale.ROOT,
            "%-5s %-48s growing %s, unused %s, leak %s; in the end %s%n",
            kind.leaks() ? "leak" : "",
            kind.name(),
            times(all, Verdict.GROWING),
            times(all, Verdict.UNUSED),
            times(all, Verdict.LEAK),
            last);
      }
    }

    private static String times(List<Outcome> all, Verdict verdict) {
      double[] minutes =
          all.stream()
              .filter(outcome -> outcome.was(verdict))
              .mapToDouble(outcome -> outcome.first.get(verdict))
              .sorted()
              .toArray();
      return minutes.length == 0
          ? "-"
          : String.format(
              Locale.ROOT,
              "%d of %d at %.0f (%.0f)",
              minutes.length,
              all.size(),
              minutes[minutes.length / 2],
              minutes[minutes.length - 1]);
    }
  }

  private static Verdict worse(Verdict one, Verdict other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  @BeforeAll
  static void live() {
    Stream.<Runnable>of(
            () -> AMPLE.liveWithEachKind(TWO_HOURS),
            () -> SHORT.liveWithEachKind(TWO_HOURS),
            TWO::liveWithTwoKindsOfEachName)
        .parallel()
        .forEach(Runnable::run);
    AGAIN.known.add(AMPLE.known.all());
    AGAIN.liveWithEachKind(TWO_HOURS / 2);
    ALL.forEach(Simulation::print);
  }

  @Test
  void slotsRunShort() {
    assertThat(SHORT.ratioOfWeights).isGreaterThan(1_000);
  }

  @Test
  void nineteenOfTwentyLeaksAreFoundWithinTwoHours() {
    assertThat(found(AMPLE)).isGreaterThanOrEqualTo(0.95);
    assertThat(found(SHORT)).isGreaterThanOrEqualTo(0.75);
  }

  private static double found(Simulation simulation) {
    List<Outcome> leaks = simulation.that(true);
    double found =
        leaks.stream().filter(outcome -> outcome.was(Verdict.LEAK)).count() / (double) leaks.size();
    System.out.printf(Locale.ROOT, "found %.3f%n", found);
    return found;
  }

  @Test
  void noLeakIsGivenUpWhileItLeaks() {
    for (Simulation simulation : ALL) {
      assertThat(simulation.that(true))
          .filteredOn(outcome -> outcome.givenUp > 0)
          .extracting(outcome -> outcome.kind.name())
          .isEmpty();
    }
  }

  @Test
  void whatWaitsForATimeoutAScanOrASwapIsNeverCalledALeak() {
    for (Simulation simulation : ALL) {
      assertThat(simulation.that(false))
          .filteredOn(outcome -> outcome.kind.name().endsWith(" min"))
          .hasSizeGreaterThan(150)
          .filteredOn(outcome -> outcome.was(Verdict.LEAK))
          .extracting(outcome -> outcome.kind.name())
          .isEmpty();
    }
  }

  @Test
  void noNameIsCalledALeakBecauseOneOfItsStacksIsOldAndAnotherGrows() {
    assertThat(TWO.outcomes.values())
        .hasSizeGreaterThan(100)
        .filteredOn(outcome -> outcome.was(Verdict.LEAK))
        .extracting(outcome -> outcome.with + ": " + outcome.kind.name())
        .isEmpty();
  }

  /**
   * Some healthy tables grow logarithmically without end. The test therefore allows 1 % of the
   * healthy sites to be called a leak.
   */
  @Test
  void ofAllThatOnlyLooksLikeALeakOneInAHundredIsCalledOneAtMost() {
    for (Simulation simulation : ALL) {
      List<Outcome> healthy = simulation.that(false);
      long wrong = healthy.stream().filter(outcome -> outcome.was(Verdict.LEAK)).count();
      System.out.printf(Locale.ROOT, "called a leak in vain: %d of %d%n", wrong, healthy.size());
      assertThat(wrong / (double) healthy.size()).isLessThanOrEqualTo(0.01);
    }
  }

  @Test
  void aLeakIsAsOftenOneAsItsConfidenceSays() {
    for (Simulation simulation : ALL) {
      double right = leaks(simulation.that(true));
      double wrong = leaks(simulation.that(false));
      assertThat(right / (right + wrong)).isGreaterThanOrEqualTo(LeakThresholds.CONFIDENCE);
    }
  }

  private static long leaks(List<Outcome> outcomes) {
    return outcomes.stream().filter(outcome -> outcome.was(Verdict.LEAK)).count();
  }

  /**
   * The test leaves out leaks with many stacks. Each of their stacks has too few samples to be
   * recognized in the next run.
   */
  @Test
  void leaksOfTheRunBeforeAreToldWithinMinutes() {
    assertThat(AGAIN.that(true))
        .filteredOn(
            outcome ->
                List.of("everything, twice a second", "slower and slower")
                    .contains(outcome.kind.name()))
        .hasSize(2 * SITES_OF_A_KIND)
        .allSatisfy(outcome -> assertThat(outcome.first.get(Verdict.LEAK)).isLessThanOrEqualTo(10));
  }

  @Test
  void whatIsUnusedIsSaidToBeSoWithinMinutes() {
    for (String name : List.of("everything, twice a second", "slower and slower")) {
      assertThat(AMPLE.that(true))
          .filteredOn(outcome -> outcome.kind.name().equals(name))
          .allSatisfy(
              outcome -> {
                assertThat(outcome.first.get(Verdict.GROWING)).isLessThanOrEqualTo(4);
                assertThat(outcome.first.get(Verdict.UNUSED)).isLessThanOrEqualTo(7);
                assertThat(outcome.first.get(Verdict.LEAK)).isBetween(35.0, 75.0);
              });
    }
  }
}
