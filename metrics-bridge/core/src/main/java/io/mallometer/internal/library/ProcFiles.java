package io.mallometer.internal.library;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Reads files in {@code /proc} as text. The result is empty if a file is absent, hidden or blank.
 */
public final class ProcFiles {

  private ProcFiles() {}

  public static Optional<String> mappedFiles() {
    return text("/proc/self/maps");
  }

  public static Optional<String> mounts() {
    return text("/proc/self/mountinfo");
  }

  static Optional<String> text(String path) {
    // Uses a stream, because a JVM takes some milliseconds to load the classes of a channel.
    try (FileInputStream file = new FileInputStream(path)) {
      String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      return text.isEmpty() ? Optional.empty() : Optional.of(text);
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }
}
