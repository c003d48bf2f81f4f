package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.internal.gate.Results;
import io.mallometer.internal.gate.Selection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult.Status;

@Tag("any-jdk")
@Tag("engine")
class ResultsFileTest {

  private static final HandFedProcess PROCESS = new HandFedProcess();
  private static final String CASES = Cases.class.getName();

  @TempDir Path directory;

  static class Cases {
    @RegisterExtension static final HandFedProcess HAND_FED = PROCESS;

    @Test
    @ExpectMaxNative(calls = 100, warmups = 1, iterations = 3)
    void calls() {
      PROCESS.calls += 2;
      PROCESS.peak = Double.NaN;
    }

    @Test
    @ExpectNativeFreed(allowed = 5_000)
    void keeps() {
      PROCESS.live += 3_000;
    }

    @Test
    @ExpectNoNativeGrowth(warmups = 1, iterations = 5)
    void allocatesWithoutRoom() {
      PROCESS.withoutSite++;
    }

    @Test
    @ExpectNativeFreed
    void mayKeepWithoutRoom() {
      PROCESS.withoutSite++;
    }

    @RepeatedTest(2)
    @ExpectNoNativeGrowth(warmups = 1, iterations = 5)
    void grows() {
      PROCESS.live += 1_000;
    }
  }

  private Map<String, String> parameters() {
    return Map.of("mallometer.results", directory.toString());
  }

  private Map<String, List<Double>> read() throws IOException {
    Map<String, List<Double>> read = new TreeMap<>();
    Results.read(List.of(directory), new Selection(List.of(), List.of()))
        .expected()
        .forEach(
            (key, expected) -> {
              var values = expected.distribution().values();
              read.put(
                  key + " " + expected.unit(),
                  List.of(values.get(values.firstKey()), values.get(values.lastKey())));
            });
    return read;
  }

  @Test
  void figuresOfEachRunAreReadByTheGates() throws IOException {
    Engine.run(Cases.class, parameters());
    assertThat(read())
        .containsEntry(CASES + ".calls native.alloc.calls calls", List.of(2.0, 2.0))
        .containsEntry(CASES + ".calls native.alloc.bytes B", List.of(200.0, 200.0))
        .containsEntry(CASES + ".calls native.alloc.kept B", List.of(0.0, 0.0))
        .containsEntry(CASES + ".keeps native.alloc.kept B", List.of(3_000.0, 3_000.0))
        .containsEntry(CASES + ".grows[1] native.alloc.kept B", List.of(1_000.0, 1_000.0))
        .containsEntry(CASES + ".grows[2] native.alloc.kept B", List.of(1_000.0, 1_000.0));
    assertThat(read().keySet()).noneMatch(key -> key.contains("peak") || key.contains("Room"));
    assertThat(Files.readString(file())).contains("\"samples\":[2,2,2]");
  }

  private Path file() {
    return directory.resolve("results-" + ProcessHandle.current().pid() + ".json");
  }

  @Test
  void anotherRunInTheSameJvmReplacesAndLeavesOneFile() throws IOException {
    Engine.run(Cases.class, parameters());
    String first = Files.readString(file());
    Engine.run(Cases.class, parameters());
    assertThat(Files.readString(file())).isEqualTo(first);
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).containsExactly(file());
    }
  }

  @Test
  void filesOfAnEarlierBuildGoAndThoseOfThisOneStay() throws IOException {
    Path earlier = Files.createFile(directory.resolve("results-1.json"));
    Path now = Files.createFile(directory.resolve("results-2.json"));
    Path ofOthers = Files.createFile(directory.resolve("results-jmh.json"));
    FileTime longAgo = FileTime.from(Instant.EPOCH);
    Files.setLastModifiedTime(earlier, longAgo);
    Files.setLastModifiedTime(ofOthers, longAgo);
    Engine.run(Cases.class, parameters());
    assertThat(earlier).doesNotExist();
    assertThat(now).exists();
    assertThat(ofOthers).exists();
  }

  @Test
  void offWritesNothing() throws IOException {
    Engine.run(Cases.class, Map.of("mallometer.results", "off"));
    assertThatThrownBy(this::read).isInstanceOf(IOException.class);
  }

  @Test
  void aDirectoryThatCannotBeMadeFailsNoTest() throws IOException {
    Path file = Files.createFile(directory.resolve("a-file"));
    assertThat(
            Engine.run(Cases.class, Map.of("mallometer.results", file.toString()))
                .get("calls")
                .getStatus())
        .isEqualTo(Status.SUCCESSFUL);
  }

  @Test
  void theUsualDirectoryIsThatOfTheBuildTool() throws IOException {
    assertThat(ResultsFile.usualDirectory(directory)).isEmpty();
    Files.createDirectory(directory.resolve("build"));
    assertThat(ResultsFile.usualDirectory(directory))
        .contains(directory.resolve("build/mallometer"));
    Files.createDirectory(directory.resolve("target"));
    assertThat(ResultsFile.usualDirectory(directory))
        .contains(directory.resolve("target/mallometer"));
  }
}
