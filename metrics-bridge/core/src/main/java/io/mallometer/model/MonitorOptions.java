package io.mallometer.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A ready-made monitor: what it waits for.
 *
 * @param kind what it does
 * @param bytes the size that has to be exceeded; 0 for {@link Kind#CSV_FILE} and {@link
 *     Kind#USABLE_SIZES}
 * @param thread of which thread a {@link Kind#THRESHOLD} tells, by the number that {@link
 *     HugeAllocation#threadId} has; 0 for all threads
 * @param file where the rows are written; empty for all but {@link Kind#CSV_FILE}
 */
public record MonitorOptions(Kind kind, long bytes, int thread, Optional<Path> file) {

  /** What a monitor does. */
  public enum Kind {
    /** Tells of each request above a size, with its stack. */
    THRESHOLD,
    /** Tells when live bytes cross a size upwards, with the call sites that hold most. */
    LIVE_SIZE,
    /** Writes a row of a CSV file at each poll. */
    CSV_FILE,
    /**
     * Counts allocations by the size that the allocator hands out. Meanwhile all events take the
     * hook's longer path.
     */
    USABLE_SIZES;

    /**
     * Returns the name in options: {@code threshold}, {@code live-size}, {@code csv-file}, {@code
     * usable-sizes}.
     */
    public String id() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  public MonitorOptions {
    if (kind == Kind.CSV_FILE && file.isEmpty()) {
      throw new IllegalArgumentException(kind.id() + " needs a file");
    }
    if ((kind == Kind.THRESHOLD || kind == Kind.LIVE_SIZE) && bytes < 1) {
      throw new IllegalArgumentException(kind.id() + " needs a size of at least 1");
    }
    if (thread < 0 || thread != 0 && kind != Kind.THRESHOLD) {
      throw new IllegalArgumentException(kind.id() + " is not of thread " + thread);
    }
  }

  /** Tells of each request above this size. */
  public static MonitorOptions threshold(long bytes) {
    return new MonitorOptions(Kind.THRESHOLD, bytes, 0, Optional.empty());
  }

  /**
   * Returns the same for the requests of one thread: those of others take none of the 64 places.
   *
   * @param thread the kernel's number; 0 for all threads
   */
  public MonitorOptions withThread(int thread) {
    return new MonitorOptions(kind, bytes, thread, file);
  }

  /** Tells when this many live bytes are crossed upwards. */
  public static MonitorOptions liveSize(long bytes) {
    return new MonitorOptions(Kind.LIVE_SIZE, bytes, 0, Optional.empty());
  }

  /** Writes a row at each poll, at most one a second. */
  public static MonitorOptions csvFile(Path file) {
    return new MonitorOptions(Kind.CSV_FILE, 0, 0, Optional.of(file));
  }

  /** Counts allocations by the size that the allocator hands out. */
  public static MonitorOptions usableSizes() {
    return new MonitorOptions(Kind.USABLE_SIZES, 0, 0, Optional.empty());
  }

  /** Returns the monitors that the options ask for. */
  public static List<MonitorOptions> of(MallometerOptions options) {
    List<MonitorOptions> monitors = new ArrayList<>();
    Optional<Long> threshold = options.find(Setting.MONITOR_THRESHOLD);
    if (threshold.isPresent()) {
      monitors.add(threshold(threshold.get()));
    }
    Optional<Long> liveSize = options.find(Setting.MONITOR_LIVE_SIZE);
    if (liveSize.isPresent()) {
      monitors.add(liveSize(liveSize.get()));
    }
    Optional<Path> file = options.find(Setting.MONITOR_CSV_FILE);
    if (file.isPresent()) {
      monitors.add(csvFile(file.get()));
    }
    if (options.get(Setting.MONITOR_USABLE_SIZES)) {
      monitors.add(usableSizes());
    }
    return monitors;
  }

  /**
   * Returns the monitor as options have it, such as {@code threshold=209715200}, and its thread if
   * it is of one.
   */
  @Override
  public String toString() {
    String value = kind == Kind.USABLE_SIZES ? "true" : Long.toString(bytes);
    String option = kind.id() + "=" + file.map(Path::toString).orElse(value);
    return thread == 0 ? option : option + " of thread " + thread;
  }
}
