package io.mallometer.internal.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/**
 * The start of a process, read from the files of proc(5). The JDK's own methods are not used,
 * because they load a thread pool or the management interface.
 */
public final class ProcessStart {

  /** The nanoseconds of a clock tick. Linux reports times in ticks of 1/100 s (USER_HZ). */
  private static final long TICK_NANOS = 10_000_000L;

  /**
   * The index of the start time in {@code /proc/self/stat}, counted from the field after the
   * closing parenthesis.
   */
  private static final int START_TICKS = 19;

  private static final String UNKNOWN = "-";

  private ProcessStart() {}

  /**
   * Returns the start of a process in ticks, and its PID namespace, as two words. The words and the
   * process id together identify the process; the ids of processes in different containers may be
   * equal. A word that cannot be read is {@value #UNKNOWN}.
   *
   * @param proc the process's directory in {@code /proc}
   */
  public static String identity(Path proc) {
    String ticks = UNKNOWN;
    try {
      ticks = fields(ProcFiles.text(proc + "/stat").orElse(""))[START_TICKS];
      return ticks + " " + Files.readSymbolicLink(proc.resolve("ns/pid"));
    } catch (IOException | RuntimeException e) {
      return ticks + " " + UNKNOWN;
    }
  }

  /** Returns whether two results of {@link #identity} can be of one process. */
  public static boolean isSame(String one, String other) {
    String[] ones = one.split(" ");
    String[] others = other.split(" ");
    return ones.length == 2
        && others.length == 2
        && !ones[0].equals(UNKNOWN)
        && ones[0].equals(others[0])
        && (ones[1].equals(others[1]) || ones[1].equals(UNKNOWN) || others[1].equals(UNKNOWN));
  }

  public static Optional<Instant> instant() {
    return of(
        ProcFiles.text("/proc/self/stat").orElse(""),
        ProcFiles.text("/proc/uptime").orElse(""),
        Instant.now());
  }

  static Optional<Instant> of(String stat, String uptime, Instant now) {
    try {
      String[] fields = fields(stat);
      // The uptime has two decimals, so its digits without the point are hundredths of a second,
      // the length of a tick.
      long ticks = Long.parseLong(uptime.split(" ")[0].replace(".", ""));
      long running = ticks - Long.parseLong(fields[START_TICKS]);
      // A container may have an uptime of its own but the host's start times; the difference is
      // then negative.
      return running < 0 ? Optional.empty() : Optional.of(now.minusNanos(running * TICK_NANOS));
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }

  private static String[] fields(String stat) {
    return stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
  }
}
