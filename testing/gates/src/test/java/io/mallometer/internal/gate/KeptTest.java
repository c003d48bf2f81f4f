package io.mallometer.internal.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks baselines and thresholds in files. */
@Tag("any-jdk")
class KeptTest {

  private static final Selection NATIVE = new Selection(List.of(), List.of());
  private static final Tolerance DEFAULT = Tolerance.Preset.DEFAULT.tolerance();

  @TempDir private Path directory;

  private Path measured(String... results) throws IOException {
    return Written.file(directory, "measured.json", results);
  }

  private Results results(String... results) throws IOException {
    return Results.read(List.of(measured(results)), NATIVE);
  }

  private Thresholds thresholds() {
    return new Thresholds(directory.resolve("thresholds"));
  }

  private Path only() throws IOException {
    try (var files = Files.list(directory.resolve("thresholds"))) {
      List<Path> all = files.toList();
      assertThat(all).hasSize(1);
      return all.get(0);
    }
  }

  @Test
  void aThresholdFileHasALineForEachFigureInAFixedOrder() throws IOException {
    thresholds()
        .update(
            results(
                Written.result("io.example.T.test", "native.y", "calls", 3),
                Written.result("io.example.T.test", "native.x", "B", 4, 1.23456, 2, 3)),
            NATIVE);

    assertThat(only()).hasFileName("io.example.T.test.json");
    assertThat(only())
        .hasContent(
            """
            {
              "name": "io.example.T.test",
              "metrics": {
                "native.x": {
                  "unit": "B",
                  "p0": 1.235,
                  "p25": 1.235,
                  "p50": 2,
                  "p75": 3,
                  "p90": 4,
                  "p99": 4,
                  "p100": 4
                },
                "native.y": {
                  "unit": "calls",
                  "p0": 3,
                  "p25": 3,
                  "p50": 3,
                  "p75": 3,
                  "p90": 3,
                  "p99": 3,
                  "p100": 3
                }
              }
            }
            """);
  }

  @Test
  void whatWasWrittenIsEqualToWhatWasMeasured() throws IOException {
    Results results = results(Written.result("T.a", "native.x", "B", 1.23456, 0.000123456, 9e9));
    thresholds().update(results, NATIVE);

    Comparison comparison =
        Comparison.of(thresholds().read(NATIVE), results, Tolerance.Preset.STRICT.tolerance());
    assertThat(comparison.outcome()).isEqualTo(Outcome.EQUAL);
    assertThat(thresholds().update(results, NATIVE)).as("files that changed").isEmpty();
  }

  @Test
  void anUpdateKeepsTolerancesAndWhatWasNotMeasured() throws IOException {
    thresholds()
        .update(
            results(
                Written.result("T.a", "native.x", "B", 1),
                Written.result("T.a", "native.gone", "B", 1)),
            NATIVE);
    Path other = directory.resolve("thresholds/other.json");
    Files.writeString(other, Files.readString(only()).replace("T.a", "T.other"));
    Path file = directory.resolve("thresholds/T.a.json");
    Files.writeString(
        file,
        Files.readString(file)
            .replaceFirst(
                "\"unit\": \"B\",\\s+\"p0\": 1,\\s+\"p25\": 1", "\"p0\": 1, \"unit\": \"B\"")
            .replace(
                "\"native.x\": {",
                "\"time\": {\"unit\": \"ms\"}, \"native.x\": {\"tolerance\": \"strict\","));

    List<Path> changed =
        thresholds().update(results(Written.result("T.a", "native.x", "B", 2)), NATIVE);

    assertThat(changed).containsExactly(file);
    assertThat(Files.readString(file))
        .containsSubsequence(
            "native.x", "\"unit\": \"B\"", "\"tolerance\": \"strict\"", "\"p0\": 2", "time")
        .doesNotContain("native.gone");
    assertThat(other).content().contains("native.gone");
  }

  @Test
  void aMetricsOwnToleranceComesFirst() throws IOException {
    Results before = results(Written.result("T.a", "native.x", "B", 100));
    thresholds().update(before, NATIVE);
    Results after = results(Written.result("T.a", "native.x", "B", 130));
    assertThat(outcome(after)).isEqualTo(Outcome.WORSE);

    for (String tolerance :
        List.of(
            "{\"relative\": 0.3}",
            "{\"absolute\": 30}",
            "{\"relative\": 0, \"absolute\": 30, \"percentiles\": [\"p50\"]}")) {
      thresholds().update(before, NATIVE);
      Files.writeString(
          only(),
          Files.readString(only())
              .replaceFirst("\"unit\"", "\"tolerance\": " + tolerance + ", \"unit\""));
      assertThat(outcome(after)).as(tolerance).isEqualTo(Outcome.EQUAL);
      Files.delete(only());
    }
  }

  private Outcome outcome(Results results) throws IOException {
    return Comparison.of(thresholds().read(NATIVE), results, DEFAULT).outcome();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "\"p0\": 1 -> \"p95\": 1|native.x: \"p95\" is not known",
        "\"p0\": 1 -> \"p0\": \"NaN\"|native.x p0 is NaN, where a finite number is expected",
        "\"unit\": \"B\", -> |native.x: \"unit\" is missing",
        "\"metrics\" -> \"metric\"|\"metric\" is not known; there are metrics, name",
        "\"unit\" -> \"tolerance\": \"lax\", \"unit\"|native.x tolerance: lax is not a preset",
        "\"unit\" -> \"tolerance\": {\"relative\": -1}, \"unit\"|must be a number from 0",
        "\"unit\" -> \"tolerance\": {\"percent\": 5}, \"unit\"|\"percent\" is not known",
        "\"unit\" -> \"tolerance\": {\"percentiles\": []}, \"unit\"|at least one percentile",
        "\"unit\" -> \"tolerance\": {\"percentiles\": [7]}, \"unit\"|7 is not a percentile",
        "} -> |not all of it was written",
      })
  void aMistakeInAThresholdFileIsNamed(String edit, String reason) throws IOException {
    thresholds().update(results(Written.result("T.a", "native.x", "B", 1)), NATIVE);
    String[] change = edit.split(" -> ?", 2);
    Path file = only();
    Files.writeString(file, Files.readString(file).replace(change[0], change[1]));

    assertThatThrownBy(() -> thresholds().read(NATIVE))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessageStartingWith(file + ": ")
        .hasMessageContaining(reason);
  }

  @Test
  void thresholdsThatAreNotThereAreNotEqual() throws IOException {
    assertThatThrownBy(() -> thresholds().read(NATIVE))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "there are no thresholds in "
                + directory.resolve("thresholds")
                + ". To write them: mallometer thresholds update, or with Maven -Dmallometer.update");
    thresholds().update(results(Written.result("T.a", "native.x", "B", 1)), NATIVE);
    assertThatThrownBy(() -> thresholds().read(new Selection(List.of("U.*"), List.of())))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessageEndingWith("no threshold matches native.*");
    Files.copy(only(), directory.resolve("thresholds/copy.json"));
    assertThatThrownBy(() -> thresholds().read(NATIVE))
        .hasMessageContaining("T.a has thresholds in another file, too");
  }

  @Test
  void anyNameGetsAFileOfItsOwn() throws IOException {
    String longName = "x".repeat(500);
    thresholds()
        .update(
            results(
                Written.result("T.test(/etc/passwd)", "native.x", "B", 1),
                Written.result("T.test(?etc?passwd)", "native.x", "B", 1),
                Written.result("../../outside", "native.x", "B", 1),
                Written.result(longName + 1, "native.x", "B", 1),
                Written.result(longName + 2, "native.x", "B", 1)),
            NATIVE);

    assertThat(directory.resolve("thresholds"))
        .isDirectoryContaining("glob:**T.test__etc_passwd_-*.json");
    try (var files = Files.list(directory.resolve("thresholds"))) {
      assertThat(files).hasSize(5);
    }
    assertThat(thresholds().read(NATIVE)).hasSize(5);
  }

  @Test
  void aBaselineKeepsEverySample() throws IOException {
    Baselines baselines = new Baselines(directory.resolve("baselines"));
    assertThat(baselines.names()).isEmpty();
    Results results = results(Written.result("T.a", "native.x", "B", 3, 1, 2));
    baselines.save("main", results);
    baselines.save("v1.0", results);

    assertThat(baselines.names()).containsExactly("main", "v1.0");
    assertThat(baselines.read("main", NATIVE).json()).isEqualTo(results.json());
    baselines.delete("main");
    assertThat(baselines.names()).containsExactly("v1.0");
    assertThatThrownBy(() -> baselines.delete("main")).hasMessageEndingWith("there are v1.0");
    assertThatThrownBy(() -> baselines.read("main", NATIVE))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "there is no baseline main in %s; there are v1.0"
                .formatted(directory.resolve("baselines")));
    for (String wrong : List.of("../main", "", ".hidden", "a b", "a/b", "x".repeat(101))) {
      assertThatThrownBy(() -> baselines.file(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aFileThatCannotBeWrittenStaysAsItWas() throws IOException {
    Path target = Files.createDirectory(directory.resolve("target"));
    Path file = target.resolve("main.json");
    WholeFile.write(file, "before");
    Path blocked = Files.createDirectories(directory.resolve("blocked.json/child"));

    assertThatThrownBy(() -> WholeFile.write(blocked.getParent(), "after"))
        .isInstanceOf(IOException.class);
    assertThat(blocked).isDirectory();
    try (var left = Files.list(directory)) {
      assertThat(left).noneMatch(path -> path.getFileName().toString().startsWith("."));
    }
    WholeFile.write(file, "after");
    assertThat(target).isDirectoryNotContaining("glob:**.*.[0-9]*");
    assertThat(file).hasContent("after");
  }
}
