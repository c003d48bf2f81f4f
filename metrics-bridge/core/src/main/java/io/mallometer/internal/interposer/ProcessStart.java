package io.mallometer.internal.interposer;

import java.time.Instant;
import java.util.Optional;

/**
 * The start of this process by proc(5). The JDK's own methods would load a thread pool or the
 * management interface.
 */
public final class ProcessStart {

  /** USER_HZ of Linux, and how many nanoseconds such a tick has. */
  private static final long TICK_NANOS = 10_000_000L;

  /** Of {@code /proc/self/stat}, counted from behind the parenthesis of the second field. */
  private static final int START_TICKS = 19;

  private ProcessStart() {}

  /** Empty where {@code /proc} cannot be read. */
  public static Optional<Instant> instant() {
    return of(
        ProcFiles.text("/proc/self/stat").orElse(""),
        ProcFiles.text("/proc/uptime").orElse(""),
        Instant.now());
  }

  /** The same of texts that were read at a time. */
  static Optional<Instant> of(String stat, String uptime, Instant now) {
    try {
      String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
      // Seconds with two decimals, so hundredths, as ticks are.
      long ticks = Long.parseLong(uptime.split(" ")[0].replace(".", ""));
      long running = ticks - Long.parseLong(fields[START_TICKS]);
      // Some containers tell an uptime of their own beside the host's times.
      return running < 0 ? Optional.empty() : Optional.of(now.minusNanos(running * TICK_NANOS));
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }
}
