package io.mallometer.internal.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A memory cgroup of a test, version 1 or 2, if the machine allows one. */
final class MemoryLimit {

  private static final Path VERSION_1 = Path.of("/sys/fs/cgroup/memory");
  private static final Path VERSION_2 = Path.of("/sys/fs/cgroup");

  private final Path directory;
  private final String reason;

  private MemoryLimit(Path directory, String reason) {
    this.directory = directory;
    this.reason = reason;
  }

  static MemoryLimit of(long bytes) {
    boolean first = Files.exists(VERSION_1.resolve("memory.limit_in_bytes"));
    Path directory =
        (first ? VERSION_1 : VERSION_2).resolve("mallometer-test-" + ProcessHandle.current().pid());
    try {
      Files.createDirectory(directory);
      try {
        write(directory.resolve(first ? "memory.limit_in_bytes" : "memory.max"), "" + bytes);
        Path swap = directory.resolve(first ? "memory.swappiness" : "memory.swap.max");
        if (Files.exists(swap)) {
          write(swap, "0");
        }
      } catch (IOException e) {
        Files.delete(directory);
        throw e;
      }
      return new MemoryLimit(directory, "");
    } catch (IOException e) {
      return new MemoryLimit(directory, "a memory cgroup cannot be made here: " + e);
    }
  }

  boolean possible() {
    return reason.isEmpty();
  }

  String reason() {
    return reason;
  }

  /** Returns the beginning of a command line that runs a command under the limit. */
  List<String> enter() {
    return List.of("sh", "-c", "echo $$ > " + directory + "/cgroup.procs; exec \"$@\"", "sh");
  }

  /** Removes the cgroup. Retries, because the kernel notices the end of its processes late. */
  void remove() throws Exception {
    for (int i = 0; i < 100; i++) {
      try {
        Files.delete(directory);
        return;
      } catch (IOException e) {
        Thread.sleep(50);
      }
    }
  }

  /** Opens the file for writing only, as the kernel requires. */
  private static void write(Path file, String text) throws IOException {
    Files.writeString(file, text, java.nio.file.StandardOpenOption.WRITE);
  }
}
