package io.mallometer.benchmarks;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** CPU time of this process, in total and by thread. */
final class ProcessClock {
  private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
  private final Function clock = NativeLibrary.getProcess().getFunction("clock_gettime");
  private final Memory timespec = new Memory(16);

  /** Returns user and system time in nanoseconds. JDK 17 itself measures in steps of 10 ms. */
  long nanoseconds() {
    clock.invokeInt(new Object[] {CLOCK_PROCESS_CPUTIME_ID, timespec});
    return timespec.getLong(0) * 1_000_000_000 + timespec.getLong(8);
  }

  /** Returns nanoseconds by "number name" of each live thread. */
  static Map<String, Long> ofThreads() throws IOException {
    Map<String, Long> found = new TreeMap<>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path task : tasks) {
        try {
          String name = task.getFileName() + " " + Files.readString(task.resolve("comm")).trim();
          String spent = Files.readString(task.resolve("schedstat"));
          found.put(name, Long.parseLong(spent.substring(0, spent.indexOf(' '))));
        } catch (NoSuchFileException ended) {
          continue;
        }
      }
    }
    return found;
  }

  /** Returns the peak of the resident set of the process so far. */
  static long peakResidentBytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("/proc/self/status has no VmHWM");
  }
}
