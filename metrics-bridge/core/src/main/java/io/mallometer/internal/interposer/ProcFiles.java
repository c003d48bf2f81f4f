package io.mallometer.internal.interposer;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Texts under {@code /proc}. One that is absent, hidden or blanked out tells nothing: empty. */
final class ProcFiles {

  private ProcFiles() {}

  /** {@code /proc/self/maps}: what is mapped into this process. */
  static Optional<String> mappedFiles() {
    return text("/proc/self/maps");
  }

  /** {@code /proc/self/mountinfo}: what is mounted where, as this process sees it. */
  static Optional<String> mounts() {
    return text("/proc/self/mountinfo");
  }

  static Optional<String> text(String path) {
    // Not by a channel, whose classes take a JVM some milliseconds to load.
    try (FileInputStream file = new FileInputStream(path)) {
      String text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      return text.isEmpty() ? Optional.empty() : Optional.of(text);
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }
}
