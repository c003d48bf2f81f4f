package io.mallometer.junit;

import io.mallometer.internal.text.JsonWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The figures of all tests that this JVM measured, for the gates ({@code docs/reference/gates.md}).
 * Rewritten after each test, because the JVM may end at any time.
 */
final class ResultsFile {

  private static final String OWN = "results-[0-9]*.{json,unfinished}";
  private static final long PID = ProcessHandle.current().pid();

  private final Path directory;
  private final Map<String, Named> byTest = new LinkedHashMap<>();
  private boolean isFirst = true;

  private record Named(String name, UseByMetric figures) {}

  ResultsFile(Path directory) {
    this.directory = directory;
  }

  static Optional<Path> usualDirectory(Path project) {
    return Optional.of(project.resolve("target"))
        .filter(Files::isDirectory)
        .or(() -> Optional.of(project.resolve("build")).filter(Files::isDirectory))
        .map(built -> built.resolve("mallometer"));
  }

  synchronized void put(String id, String name, UseByMetric figures) throws IOException {
    byTest.put(id, new Named(name, figures));
    Files.createDirectories(directory);
    if (isFirst) {
      removeEarlier(beginOfBuild());
      isFirst = false;
    }
    Path unfinished = directory.resolve("results-" + PID + ".unfinished");
    try (Writer out = Files.newBufferedWriter(unfinished)) {
      write(JsonWriter.to(out));
    }
    Files.move(
        unfinished,
        directory.resolve("results-" + PID + ".json"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  private void write(JsonWriter json) throws IOException {
    json.beginArray();
    for (Named test : byTest.values()) {
      for (Map.Entry<String, UseByMetric.Samples> metric : test.figures().byMetric().entrySet()) {
        json.beginObject().name("name").value(test.name());
        json.name("metric").value(metric.getKey());
        json.name("unit").value(metric.getValue().unit());
        json.name("samples").beginArray();
        for (double sample : metric.getValue().samples()) {
          json.value(sample);
        }
        json.endArray().endObject();
      }
    }
    json.endArray();
  }

  /** Removes the files of earlier builds, but not those of other JVMs of this build. */
  void removeEarlier(Instant begin) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, OWN)) {
      for (Path file : files) {
        if (Files.getLastModifiedTime(file).toInstant().isBefore(begin)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  private static Instant beginOfBuild() {
    ProcessHandle own = ProcessHandle.current();
    return own.parent()
        .flatMap(ResultsFile::nearestJvm)
        .orElse(own)
        .info()
        .startInstant()
        .orElse(Instant.MIN);
  }

  /**
   * Returns the nearest JVM among the process and its ancestors. A shell may lie between Surefire's
   * JVM and Maven's.
   */
  private static Optional<ProcessHandle> nearestJvm(ProcessHandle process) {
    boolean isJvm =
        process.info().command().filter(path -> Path.of(path).endsWith("java")).isPresent();
    return isJvm ? Optional.of(process) : process.parent().flatMap(ResultsFile::nearestJvm);
  }
}
