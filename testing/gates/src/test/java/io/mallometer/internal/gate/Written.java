package io.mallometer.internal.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Creates files for tests. */
final class Written {

  static final Selection ALL = new Selection(List.of(), List.of("*"));

  private Written() {}

  static Path recorded(String name) throws Exception {
    return Path.of(Objects.requireNonNull(Written.class.getResource(name)).toURI());
  }

  static String result(String name, String metric, String unit, Object... samples) {
    return "{\"name\":\"%s\",\"metric\":\"%s\",\"unit\":\"%s\",\"samples\":%s}"
        .formatted(name, metric, unit, List.of(samples));
  }

  static Path file(Path directory, String name, String... results) throws IOException {
    return Files.writeString(
        directory.resolve(name), "[\n" + String.join(",\n", results) + "\n]\n");
  }
}
