package io.mallometer.internal.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("any-jdk")
class ComparisonTest {

  private static final Tolerance STRICT = Tolerance.Preset.STRICT.tolerance();
  private static final Tolerance DEFAULT = Tolerance.Preset.DEFAULT.tolerance();

  @TempDir private Path directory;

  /**
   * Percentiles are not interpolated: of ten sorted samples, p25 is the third and p99 the tenth.
   */
  @Test
  void percentilesAreSamplesByTheNearestRank() {
    List<Double> samples = Arrays.asList(10.0, 1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0, 8.0, 7.0);

    assertThat(Distribution.of(samples).values().values())
        .containsExactly(1.0, 3.0, 5.0, 8.0, 9.0, 10.0, 10.0);
    assertThat(Distribution.of(List.of(7.0)).values().values()).containsOnly(7.0);
  }

  @ParameterizedTest
  @CsvSource({
    "strict, 1000, 1000, EQUAL, 0, 0",
    "strict, 1000, 1001, WORSE, 2, 1",
    "strict, 1000, 999, BETTER, 4, 0",
    "default, 1000, 1050, EQUAL, 0, 0",
    "default, 1000, 1051, WORSE, 2, 1",
    "default, 1000, 950, EQUAL, 0, 0",
    "default, 1000, 949, BETTER, 4, 0",
    "relaxed, 1000, 1250, EQUAL, 0, 0",
    "relaxed, 1000, 1251, WORSE, 2, 1",
    "default, -1000, -950, EQUAL, 0, 0",
    "default, -1000, -949, WORSE, 2, 1",
    "default, 0, 0, EQUAL, 0, 0",
    "relaxed, 0, 1, WORSE, 2, 1",
  })
  void presetsAllowAShareAndExitCodesFollow(
      String preset, long before, long after, Outcome outcome, int exitCode, int bisectCode)
      throws IOException {
    Comparison comparison =
        compare("B", Tolerance.Preset.of(preset).tolerance(), List.of(before), List.of(after));

    assertThat(comparison.outcome()).isEqualTo(outcome);
    assertThat(outcome.exitCode()).isEqualTo(exitCode);
    assertThat(outcome.bisectCode()).isEqualTo(bisectCode);
  }

  /**
   * The fractions of a byte in the first comparison are the JVM's own memory, so they must not
   * count as a difference. The figures come from real runs.
   */
  @Test
  void whatTheJvmLeavesInAnAverageIsNoDifference() throws IOException {
    assertThat(compare("B/op", DEFAULT, List.of(0, 0, 0), List.of(0.0186, 0.274, 0.461)).outcome())
        .isEqualTo(Outcome.EQUAL);
    assertThat(compare("#/op", DEFAULT, List.of(0, 0, 0), List.of(1, 1, 1)).outcome())
        .isEqualTo(Outcome.WORSE);
  }

  @Test
  void theLargerOfShareAndAmountIsAllowed() throws IOException {
    Tolerance tolerance = Tolerance.of("default", null, "4KiB", List.of());

    assertThat(compare("B", tolerance, List.of(0), List.of(4096)).outcome())
        .isEqualTo(Outcome.EQUAL);
    assertThat(compare("B", tolerance, List.of(0), List.of(4097)).outcome())
        .isEqualTo(Outcome.WORSE);
    assertThat(compare("B", tolerance, List.of(1_000_000), List.of(1_050_000)).outcome())
        .isEqualTo(Outcome.EQUAL);
  }

  @Test
  void moreIsBetterForARate() throws IOException {
    assertThat(compare("ops/s", DEFAULT, List.of(100), List.of(80)).outcome())
        .isEqualTo(Outcome.WORSE);
    assertThat(compare("ops/s", DEFAULT, List.of(100), List.of(120)).outcome())
        .isEqualTo(Outcome.BETTER);
  }

  /**
   * The quartiles are 100 and 140, so their distance is 40. The noise band is 60, which is 1.5
   * times this distance.
   */
  @Test
  void aDifferenceInsideTheNoiseBandIsAWarningAndNoFailure() throws IOException {
    List<Integer> noisy = List.of(100, 100, 120, 140, 140);

    Comparison inside = compare("B", DEFAULT, noisy, List.of(180, 180, 180, 180, 180));
    assertThat(inside.figures())
        .extracting(Comparison.Figure::percentile, Comparison.Figure::verdict)
        .contains(
            tuple(Percentile.P50, FigureChange.NOISE), tuple(Percentile.P75, FigureChange.NOISE));
    Tolerance median = Tolerance.of("default", null, null, List.of("p50"));
    assertThat(compare("B", median, noisy, List.of(180)).outcome()).isEqualTo(Outcome.EQUAL);
    assertThat(compare("B", median, noisy, List.of(181)).outcome()).isEqualTo(Outcome.WORSE);
    assertThat(compare("B", median, noisy, List.of(61)).outcome()).isEqualTo(Outcome.EQUAL);
    assertThat(compare("B", median, noisy, List.of(59)).outcome()).isEqualTo(Outcome.BETTER);
  }

  /** A run with a leak measures ever larger figures. This spread must not count as noise. */
  @Test
  void theSpreadOfTheNewRunExcusesNothing() throws IOException {
    assertThat(
            compare("B", DEFAULT, List.of(10, 10, 10, 10), List.of(10, 1010, 2010, 3010)).outcome())
        .isEqualTo(Outcome.WORSE);
  }

  @Test
  void aMetricThatVanishedIsNeverEqual() throws IOException {
    SortedMap<Key, Expected> before = results("1.json", "B", List.of(10)).expected();
    before.put(new Key("T.gone", "native.y"), before.get(before.firstKey()));

    Comparison comparison = Comparison.of(before, results("2.json", "B", List.of(10)), DEFAULT);
    assertThat(comparison.outcome()).isEqualTo(Outcome.NOT_MEASURED);
    assertThat(comparison.outcome().exitCode()).isEqualTo(3);
    assertThat(comparison.outcome().bisectCode()).isEqualTo(125);
    assertThat(comparison.problems())
        .containsExactly(
            new Comparison.Problem(
                new Key("T.gone", "native.y"), "it was expected and not measured"));
    assertThat(Comparison.of(before, results("2.json", "B", List.of(99)), DEFAULT).outcome())
        .as("the outcome if one figure is worse and another is missing")
        .isEqualTo(Outcome.WORSE);
  }

  @Test
  void anotherUnitIsNotCompared() throws IOException {
    Comparison comparison =
        Comparison.of(
            results("1.json", "B", List.of(10)).expected(),
            results("2.json", "B/op", List.of(10)),
            DEFAULT);

    assertThat(comparison.outcome()).isEqualTo(Outcome.NOT_MEASURED);
    assertThat(comparison.problems())
        .extracting(Comparison.Problem::reason)
        .containsExactly("it is expected in B and was measured in B/op");
  }

  /**
   * The preset judges p25, p50 and p75. The second metric has an expected figure only for p90, so
   * nothing of the metric is judged.
   */
  @Test
  void aMetricOfWhichNothingIsJudgedIsNeverEqual() throws IOException {
    SortedMap<Key, Expected> expected = results("1.json", "B", List.of(10)).expected();
    Key judged = expected.firstKey();
    Key unjudged = new Key("T.test", "native.z");
    expected.put(
        unjudged, new Expected("B", new Distribution(new TreeMap<>(Map.of(Percentile.P90, 10.0)))));
    Path measured =
        Written.file(
            directory,
            "2.json",
            Written.result("T.test", judged.metric(), "B", 10),
            Written.result("T.test", unjudged.metric(), "B", 9_999));

    Comparison comparison =
        Comparison.of(expected, Results.read(List.of(measured), Written.ALL), DEFAULT);
    assertThat(comparison.problems())
        .containsExactly(new Comparison.Problem(unjudged, "none of its percentiles is judged"));
    assertThat(comparison.outcome().exitCode()).isEqualTo(3);
    assertThat(comparison.outcome().bisectCode()).isEqualTo(125);
  }

  @Test
  void whatIsNewIsToldAndNotJudged() throws IOException {
    Path more =
        Written.file(
            directory,
            "more.json",
            Written.result("T.test", "native.x", "B", 10),
            Written.result("T.test", "native.new", "B", 10));
    Comparison comparison =
        Comparison.of(
            results("1.json", "B", List.of(10)).expected(),
            Results.read(List.of(more), Written.ALL),
            DEFAULT);

    assertThat(comparison.outcome()).isEqualTo(Outcome.EQUAL);
    assertThat(comparison.added()).containsExactly(new Key("T.test", "native.new"));
  }

  @Test
  void exactCountsAreComparedExactly() throws IOException {
    assertThat(compare("calls", STRICT, List.of(123_456_789L), List.of(123_456_790L)).outcome())
        .isEqualTo(Outcome.WORSE);
  }

  @Test
  void tolerancesAreUnderstoodOrRefused() {
    assertThat(Tolerance.share("5%")).isEqualTo(0.05);
    assertThat(Tolerance.share("0.05")).isEqualTo(0.05);
    assertThat(Tolerance.amount("1.5 MiB")).isEqualTo(1.5 * 1024 * 1024);
    for (String wrong : List.of("", "five", "-1", "NaN", "Infinity", "1MB")) {
      assertThatThrownBy(() -> Tolerance.amount(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(wrong + " is not a tolerance; write for instance 5% or 0.05, 100 or 4KiB");
    }
    assertThatThrownBy(() -> Tolerance.Preset.of("lax"))
        .hasMessage("lax is not a preset; choose one of strict, default, relaxed");
    assertThatThrownBy(() -> Percentile.of("p95"))
        .hasMessage("p95 is not a percentile; choose one of p0, p25, p50, p75, p90, p99, p100");
  }

  private Comparison compare(String unit, Tolerance tolerance, List<?> before, List<?> after)
      throws IOException {
    return Comparison.of(
        results("1.json", unit, before).expected(), results("2.json", unit, after), tolerance);
  }

  private Results results(String file, String unit, List<?> samples) throws IOException {
    Path path =
        Written.file(
            directory, file, Written.result("T.test", "native.x", unit, samples.toArray()));
    return Results.read(List.of(path), Written.ALL);
  }
}
