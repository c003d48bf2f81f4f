package io.mallometer.internal.interposer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
    try {
      String text = Files.readString(Path.of(path));
      return text.isEmpty() ? Optional.empty() : Optional.of(text);
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }
}
