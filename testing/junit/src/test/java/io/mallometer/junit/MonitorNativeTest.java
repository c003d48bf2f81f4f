package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Mallometer;
import io.mallometer.leaks.MonitoredClass;
import io.mallometer.leaks.Monitors;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

@Tag("counted")
@Tag("any-jdk")
class MonitorNativeTest {

  private static final Map<String, Engine.Ended> ENDED = new TreeMap<>();

  @TempDir private static Path directory;

  @BeforeAll
  static void run() {
    Engine.all(Monitors.class, Map.of("mallometer.results", directory.toString()))
        .forEach(ended -> ENDED.put(ended.method(), ended));
  }

  private static Engine.Ended of(String method) {
    return ENDED.get(method);
  }

  private static String failure(String method) {
    assertThat(of(method).result().getStatus()).isEqualTo(Status.FAILED);
    return of(method).result().getThrowable().orElseThrow().getMessage();
  }

  private static String report(String method) {
    assertThat(of(method).result().getThrowable()).isEmpty();
    return of(method).reported().get("native memory");
  }

  @Test
  void aRequestAboveTheThresholdFailsWithItsStack() {
    assertThat(failure("asksForMore"))
        .startsWith("Native memory: 1 requests above 20.0 MiB.\n  thread ")
        .contains(" requested 30.0 MiB\n")
        .contains("\nStacks that ask for so much:\n")
        .contains("io.mallometer.leaks.Monitors.asksForMore(Monitors.java:")
        .contains("\nMaximum: peak ");
    assertThat(report("asksForLess")).startsWith("Maximum: peak ");
  }

  @Test
  void whoeverAsksIsToldOfIfThatIsAll() {
    assertThat(report("onlyReports"))
        .startsWith("Native memory: 1 requests above 20.0 MiB.\n  thread other-asks ");
  }

  @Test
  void ofTheTestMeansItsThread() {
    assertThat(report("anotherThreadAsksForMore")).startsWith("Maximum: peak ");
  }

  @Test
  void otherThreadsTakeNoPlaceOfTheTests() {
    assertThat(failure("asksForMoreOfLittle"))
        .contains(" requests above 19.5 KiB", " requested 24.4 KiB\n")
        .doesNotContain("other-asks", " requested 29.3 KiB\n");
  }

  @Test
  void failureOfTheTestItselfStaysWhatItIs() {
    assertThat(failure("failsOfItself")).isEqualTo("of the test itself");
    assertThat(of("failsOfItself").reported().get("native memory")).contains("requested 30.0 MiB");
  }

  @Test
  void liveBytesAboveTheSizeFailWithWhoHoldsThem() {
    assertThat(failure("becomesLive"))
        .startsWith("Native memory: more than 2.0 GiB became live.\n")
        .contains("\nStacks that held most:\n", "\n   2.0 GiB        1 x  ")
        .contains("io.mallometer.leaks.Monitors.becomesLive(Monitors.java:");
    assertThat(failure("becomesLiveForAMoment"))
        .startsWith("Native memory: more than 2.0 GiB became live.");
    assertThat(report("staysBelow")).startsWith("Maximum: peak ");
  }

  @Test
  void sizesAreThoseThatWereAskedForAndReturned() {
    assertThat(report("hasSizes"))
        .containsPattern("\n {2}up to 512 KiB +3 +[3-9]")
        .containsPattern("\n {2}up to 1.0 MiB +1 +\\d")
        .containsPattern("\n {2}up to 2.0 MiB +0 +[1-9]")
        .contains("Temporary: ", "; retained: 1.0 MiB in ");
    assertThat(failure("matchesTheProcess")).contains("of = Of.TEST");
  }

  @Test
  void rowsGoToTheResultsDirectory() throws IOException {
    report("hasRows");
    List<String> rows =
        Files.readAllLines(directory.resolve("io.mallometer.leaks.Monitors.hasRows.csv"));
    assertThat(rows).hasSizeGreaterThan(1);
    assertThat(rows.get(0))
        .isEqualTo("milliseconds,live_bytes,peak_bytes,allocations,frees,requested_bytes");
    String[] last = rows.get(rows.size() - 1).split(",");
    assertThat(last).hasSize(6);
    assertThat(Long.parseLong(last[1])).isGreaterThanOrEqualTo(1_000_000);
  }

  @Test
  void theAnnotationOfAClassIsThatOfMethodsWithoutOne() {
    Map<String, TestExecutionResult> ended = Engine.run(MonitoredClass.class);
    assertThat(ended.get("asksForMore").getThrowable().orElseThrow())
        .hasMessageStartingWith("Native memory: 1 requests above 20.0 MiB.");
    assertThat(ended.get("asksForLess").getThrowable()).isEmpty();
    assertThat(ended.get("hasItsOwn").getThrowable()).isEmpty();
  }

  @Test
  void aTestWhoseRequestsCannotBeWatchedFails() {
    List<Mallometer.Subscription> all = new ArrayList<>();
    try (Mallometer mallometer = Mallometer.open(MallometerOptions.defaults())) {
      mallometer.poll();
      do {
        all.add(mallometer.monitors().start(MonitorOptions.threshold(1L << 40)));
      } while (all.get(all.size() - 1).reason().isEmpty());
      assertThat(all).hasSize(9);
      assertThat(Engine.run(MonitoredClass.class).get("asksForLess").getThrowable().orElseThrow())
          .hasMessageContaining("requests are not watched: 8 thresholds are open");
    }
    assertThat(Engine.run(MonitoredClass.class).get("asksForLess").getThrowable()).isEmpty();
  }

  @Test
  void aPhaseEndsWithTheNextOrTheTest() {
    assertThat(of("hasPhases").result().getThrowable()).isEmpty();
    assertThat(of("hasPhases").reported()).containsOnlyKeys("phase load", "phase work");
  }
}
