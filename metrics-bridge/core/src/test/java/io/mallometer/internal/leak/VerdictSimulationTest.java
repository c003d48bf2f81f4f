package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.LeakOptions;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An hour of a process with six sites of each of 34 kinds, all judged at once: how many leaks are
 * found, how many sites are suspected in vain, and how often a verdict is right that is said to be
 * so sure. A twentieth of the epochs is void. The mix is made up: it shows what the test can tell
 * apart, not how often programs are like that.
 */
@Tag("any-jdk")
class VerdictSimulationTest {

  /** {@code -Dsoak.seed=8} makes another hour. */
  private static final long SEED = Long.getLong("soak.seed", 7);

  private static final int SITES_OF_A_KIND = 6;
  private static final double HOUR = 3_600;
  private static final double VOID_SHARE = 0.05;

  /** One site, or those of one name. */
  private static final class Outcome {
    final SimulatedKind kind;
    double firstLeak = Double.NaN;
    Verdict last = Verdict.HEALTHY;

    Outcome(SimulatedKind kind) {
      this.kind = kind;
    }
  }

  /** The confidence by the age of the oldest idle object in thresholds: {@code docs/leaks.md}. */
  private static final NavigableMap<Double, Double> PROMISED =
      new TreeMap<>(Map.of(0.0, 0.7, 4.0, 0.9, 6.0, 0.98));

  /** Evaluations that said leak, by the confidence that is promised of them. */
  private static final class Stated {
    int right;
    int wrong;
    int otherwise;

    double error() {
      return wrong / (double) (right + wrong);
    }
  }

  private static final Map<String, Outcome> OUTCOMES = new HashMap<>();
  private static final SortedMap<Double, Stated> STATED = new TreeMap<>();

  @BeforeAll
  static void live() {
    SimulatedProcess process = new SimulatedProcess(SEED, VOID_SHARE);
    for (int kind = 0; kind < SimulatedKinds.ALL.size(); kind++) {
      for (int i = 0; i < SITES_OF_A_KIND; i++) {
        String name = "Kind" + kind + ".site" + i;
        process.add(SimulatedKinds.ALL.get(kind), name);
        OUTCOMES.put(name, new Outcome(SimulatedKinds.ALL.get(kind)));
      }
    }
    LeakDetector detector = new LeakDetector(LeakOptions.defaults());
    while (process.seconds() < HOUR) {
      process.passEpoch();
      LeakReport report =
          detector.evaluate(
              process.evidence(),
              process.callSites(),
              process.time(),
              Room.UNKNOWN,
              LastUses.unavailable("a simulation"),
              name -> false);
      note(report, process.seconds());
    }
    print();
  }

  private static void note(LeakReport report, double seconds) {
    OUTCOMES.values().forEach(outcome -> outcome.last = Verdict.HEALTHY);
    for (SiteVerdict verdict : report.sites()) {
      Outcome outcome = OUTCOMES.get(verdict.site().name());
      if (verdict.verdict().compareTo(outcome.last) < 0) {
        outcome.last = verdict.verdict();
      }
      if (verdict.verdict() == Verdict.LEAK) {
        outcome.firstLeak = Double.isNaN(outcome.firstLeak) ? seconds : outcome.firstLeak;
        SiteVerdict.Suspected suspected = verdict.suspected();
        double age = suspected.oldestSeconds() / suspected.thresholdSeconds();
        double sure = PROMISED.floorEntry(age).getValue();
        Stated stated = STATED.computeIfAbsent(sure, key -> new Stated());
        stated.otherwise += verdict.grounds().confidence() == sure ? 0 : 1;
        stated.right += outcome.kind.leaks() ? 1 : 0;
        stated.wrong += outcome.kind.leaks() ? 0 : 1;
      }
    }
  }

  private static void print() {
    for (SimulatedKind kind : SimulatedKinds.ALL) {
      List<Outcome> outcomes =
          OUTCOMES.values().stream().filter(outcome -> outcome.kind == kind).toList();
      Map<Verdict, Integer> last = new EnumMap<>(Verdict.class);
      outcomes.forEach(outcome -> last.merge(outcome.last, 1, Integer::sum));
      System.out.printf(
          Locale.ROOT,
          "%-5s %-48s a leak at some time %2d, first after %2.0f min; in the end %s%n",
          kind.leaks() ? "leak" : "",
          kind.name(),
          outcomes.stream().filter(outcome -> !Double.isNaN(outcome.firstLeak)).count(),
          outcomes.stream()
              .mapToDouble(outcome -> outcome.firstLeak / 60)
              .filter(t -> t > 0)
              .average()
              .orElse(Double.NaN),
          last);
    }
    STATED.forEach(
        (sure, stated) ->
            System.out.printf(
                Locale.ROOT,
                "confidence %.2f: %d right, %d wrong, error %.3f%n",
                sure,
                stated.right,
                stated.wrong,
                stated.error()));
  }

  @Test
  void nineteenOfTwentyLeaksAreFoundWithinTheHour() {
    double found = share(true, outcome -> outcome.last == Verdict.LEAK);
    System.out.printf(Locale.ROOT, "recall %.3f%n", found);
    assertThat(found).isGreaterThanOrEqualTo(0.95);
  }

  /** What is wrong for a while is a timeout of twenty minutes that has not run out once. */
  @Test
  void fewSitesAreSuspectedInVain() {
    double inTheEnd = share(false, outcome -> outcome.last == Verdict.LEAK);
    long ever =
        OUTCOMES.values().stream()
            .filter(outcome -> !outcome.kind.leaks() && !Double.isNaN(outcome.firstLeak))
            .count();
    double atSomeTime = ever / (double) OUTCOMES.size();
    System.out.printf(
        Locale.ROOT,
        "false positives: %.3f in the end, at some time %.3f of all sites, %.3f of the fine ones%n",
        inTheEnd,
        atSomeTime,
        share(false, outcome -> !Double.isNaN(outcome.firstLeak)));
    assertThat(inTheEnd).isLessThan(0.02);
    assertThat(atSomeTime).isLessThan(0.06);
  }

  @Test
  void verdictsAreWrongNoMoreOftenThanTheirConfidenceSays() {
    assertThat(STATED.keySet()).containsExactlyElementsOf(PROMISED.values());
    STATED.forEach(
        (sure, stated) -> {
          assertThat(stated.otherwise).as("said to be less or more than %s sure", sure).isZero();
          assertThat(stated.error()).as("said to be %s sure", sure).isLessThanOrEqualTo(1 - sure);
        });
  }

  @Test
  void theFirstVerdictsComeAfterAQuarterOfAnHour() {
    assertThat(
            OUTCOMES.values().stream()
                .filter(outcome -> outcome.kind == SimulatedKinds.ALL.get(0))
                .mapToDouble(outcome -> outcome.firstLeak / 60))
        .allSatisfy(minutes -> assertThat(minutes).isBetween(15.0, 18.0));
  }

  private static double share(boolean leaks, Predicate<Outcome> counted) {
    List<Outcome> all =
        OUTCOMES.values().stream().filter(outcome -> outcome.kind.leaks() == leaks).toList();
    return all.stream().filter(counted).count() / (double) all.size();
  }
}
