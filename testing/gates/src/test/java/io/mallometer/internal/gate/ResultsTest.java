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

@Tag("any-jdk")
class ResultsTest {

  @TempDir private Path directory;

  @Test
  void everyIterationOfEveryForkOfABenchmarkIsASample() throws Exception {
    Results results = Results.read(List.of(Written.recorded("jmh-1.37.json")), Written.ALL);

    assertThat(results.json())
        .contains(
            Written.result(
                    "io.example.Codec.deflate[level=1]",
                    "gc.alloc.rate.norm",
                    "B/op",
                    336.387,
                    336.15,
                    336.398,
                    336.125,
                    336.138,
                    336.159)
                .replace(", ", ","));
    assertThat(results.expected().keySet())
        .extracting(Key::toString)
        .containsExactly(
            "io.example.Codec.deflate[level=1] gc.alloc.rate",
            "io.example.Codec.deflate[level=1] gc.alloc.rate.norm",
            "io.example.Codec.deflate[level=1] gc.count",
            "io.example.Codec.deflate[level=1] gc.time",
            "io.example.Codec.deflate[level=1] score",
            "io.example.Codec.deflate[level=9] gc.alloc.rate",
            "io.example.Codec.deflate[level=9] gc.alloc.rate.norm",
            "io.example.Codec.deflate[level=9] gc.count",
            "io.example.Codec.deflate[level=9] gc.time",
            "io.example.Codec.deflate[level=9] score");
  }

  @Test
  void aBenchmarkInSeveralModesHasAResultForEach() throws Exception {
    String recorded = Files.readString(Written.recorded("jmh-1.37.json"));
    String modes =
        recorded
            .replaceFirst("\"mode\" : \"thrpt\"", "\"mode\" : \"ss\"")
            .replace("\"9\"", "\"1\"");
    Path file = Files.writeString(directory.resolve("modes.json"), modes.replace("gc.", "·gc."));

    assertThat(
            Results.read(List.of(file), new Selection(List.of(), List.of("gc.count"))).expected())
        .as("metrics whose names begin with the mark of older JMH versions")
        .containsOnlyKeys(
            new Key("io.example.Codec.deflate[level=1] ss", "gc.count"),
            new Key("io.example.Codec.deflate[level=1] thrpt", "gc.count"));
  }

  @Test
  void aTextOfAnotherProfilerOfJmhIsNoFigure() throws Exception {
    String recorded = Files.readString(Written.recorded("jmh-1.37.json"));
    String stack =
        "\"stack\" : {\"score\" : \"NaN\", \"scoreUnit\" : \"---\", \"rawData\" : [[\"NaN\"]]},";
    Path file =
        Files.writeString(
            directory.resolve("text.json"),
            recorded.replaceAll("\"secondaryMetrics\" : \\{", "$0" + stack));

    assertThat(Results.read(List.of(file), Written.ALL).expected().keySet())
        .isEqualTo(
            Results.read(List.of(Written.recorded("jmh-1.37.json")), Written.ALL)
                .expected()
                .keySet());
  }

  @Test
  void aReportIsOneSampleOfEachCounterAndPart() throws Exception {
    Results results =
        Results.read(List.of(Written.recorded("report.json")), new Selection(List.of(), List.of()));

    assertThat(results.json().lines().filter(line -> !line.contains("resident[")))
        .containsExactly(
            "[",
            line("allocated", "B", 111231616),
            line("allocations", "calls", 121436),
            line("freed", "B", 95835448),
            line("frees", "calls", 30175),
            line("live", "B", 15396168),
            line("live.objects", "objects", 91261),
            line("peak", "B", 16080072),
            line("requested", "B", 110472028),
            Written.result("process", "native.memory.resident", "B", 99733504) + ",",
            "]");
    assertThat(results.expected())
        .containsKey(new Key("process", "native.memory.resident[java_heap]"));
  }

  private static String line(String meter, String unit, int value) {
    return Written.result("process", "native.malloc." + meter, unit, value) + ",";
  }

  @Test
  void aReportOfAProcessThatWasNotCountedSaysSo() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("r.json"),
            "{\"nativememory\":{\"status\":{\"state\":\"UNAVAILABLE\",\"reason\":\"no library\"}}}");

    assertThatThrownBy(() -> Results.read(List.of(file), Written.ALL))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessage(file + ": the process was not counted: no library");
  }

  @Test
  void filesOfADirectoryArePutTogether() throws Exception {
    Written.file(directory, "results-1.json", Written.result("T.a", "native.x", "B", 1, 2));
    Written.file(directory, "results-2.json", Written.result("T.a", "native.x", "B", 3));
    Files.writeString(directory.resolve(".results-3.json.77"), "[{");
    Files.writeString(directory.resolve("notes.txt"), "not JSON");

    assertThat(Results.read(List.of(directory), Written.ALL).json())
        .isEqualTo(
            "[\n" + Written.result("T.a", "native.x", "B", 1, 2, 3).replace(", ", ",") + "\n]\n");
  }

  @Test
  void thatNothingWasMeasuredIsAnError() throws Exception {
    Path empty = Files.writeString(directory.resolve("empty.json"), "[]");
    Path other = Written.file(directory, "other.json", Written.result("T.a", "time", "ms", 1));

    assertThatThrownBy(() -> Results.read(List.of(empty), Written.ALL))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessage(empty + ": no results; check that the tests or benchmarks ran");
    assertThatThrownBy(() -> Results.read(List.of(other), new Selection(List.of(), List.of())))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessage(other + ": no metric matches native.*; there are time");
    assertThatThrownBy(() -> Results.read(List.of(directory.resolve("no.json")), Written.ALL))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(UnusableResultsException.class)
        .hasMessage(directory.resolve("no.json") + " does not exist");
  }

  @Test
  void whatTheSelectionLeavesOutIsNotLookedAt() throws Exception {
    Path file =
        Written.file(
            directory,
            "r.json",
            Written.result("T.a", "native.x", "B", 1),
            Written.result("T.a", "time", "ms", "\"NaN\""),
            Written.result("T.b", "native.x", "B", "\"NaN\""));

    assertThat(Results.read(List.of(file), new Selection(List.of("T.a"), List.of())).expected())
        .containsOnlyKeys(new Key("T.a", "native.x"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"samples\":[1,\"NaN\"]}]"
            + "|a m, sample 2 is NaN, where a finite number is expected",
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"samples\":[NaN]}]|is not JSON",
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"samples\":[1e999]}]|finite number",
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"samples\":[null]}]|is no number",
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"samples\":[]}]|a m has no samples",
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"samples\":1}]|is not an array",
        "[{\"name\":\"a\",\"metric\":\"m\",\"samples\":[1]}]|result 1: \"unit\" is missing",
        "[{\"name\":7,\"metric\":\"m\",\"unit\":\"B\",\"samples\":[1]}]|\"name\" is not a text",
        "[{\"name\":\"a\",\"metric\":\"m\",\"unit\":\"B\",\"sample\":[1]}]"
            + "|\"sample\" is not known; there are metric, name, samples, unit",
        "[7]|result 1 is not an object",
        "[{\"name\":\"a\",|not all of it was written",
        "[] []|not all of it was written; see line 1 column",
        "{\"a\":1}|the file holds no results",
        "7|the file holds no results",
        "[{\"benchmark\":\"b\",\"mode\":\"ss\",\"primaryMetric\":{\"rawData\":[7],\"scoreUnit\":\"s\"}}]"
            + "|is not an array of arrays",
        "[{\"benchmark\":\"b\",\"mode\":\"ss\",\"primaryMetric\":{\"rawData\":[[\"NaN\"]],\"scoreUnit\":\"s\"}}]"
            + "|b score, sample 1 is NaN",
        "{\"nativememory\":{\"process\":{}}}|\"memory\" is missing",
      })
  void aMalformedFileIsNamedWithTheReason(String content, String reason) throws Exception {
    Path file = Files.writeString(directory.resolve("bad.json"), content);

    assertThatThrownBy(() -> Results.read(List.of(file), Written.ALL))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessageStartingWith(file + ": ")
        .hasMessageContaining(reason);
  }

  @Test
  void bytesThatAreNoTextAndNestingWithoutEndAreRefused() throws Exception {
    Path bytes = Files.write(directory.resolve("bytes.json"), new byte[] {'[', (byte) 0xff});
    Path deep = Files.writeString(directory.resolve("deep.json"), "[".repeat(100_000));
    Path none = Files.createFile(directory.resolve("none.json"));

    for (Path file : List.of(bytes, deep, none)) {
      assertThatThrownBy(() -> Results.read(List.of(file), Written.ALL))
          .as(file.toString())
          .isInstanceOf(UnusableResultsException.class);
    }
  }

  @Test
  void anotherUnitInAnotherFileIsAnError() throws Exception {
    Path one = Written.file(directory, "1.json", Written.result("T.a", "native.x", "B", 1));
    Path other = Written.file(directory, "2.json", Written.result("T.a", "native.x", "KiB", 1));

    assertThatThrownBy(() -> Results.read(List.of(one, other), Written.ALL))
        .isInstanceOf(UnusableResultsException.class)
        .hasMessage(other + ": T.a native.x is in KiB here and in B in another file");
  }
}
