package io.mallometer.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The options of a built-in monitor.
 *
 * @param kind the kind
 * @param bytes the size above which the monitor reports; 0 for {@link Kind#CSV_FILE} and {@link
 *     Kind#USABLE_SIZES}
 * @param thread the {@link HugeAllocation#threadId} of the thread whose requests a {@link
 *     Kind#THRESHOLD} monitor reports; 0 for all threads
 * @param file the file to which rows are written; empty for all kinds but {@link Kind#CSV_FILE}
 */
public record MonitorOptions(Kind kind, long bytes, int thread, Optional<Path> file) {

  /** Kind of a monitor. */
  public enum Kind {
    /** Reports each request above a size, with its stack. */
    THRESHOLD,
    /** Reports that live bytes exceed a size, and names the call sites with the most live bytes. */
    LIVE_SIZE,
    /** Writes a row of a CSV file at each poll. */
    CSV_FILE,
    /**
     * Counts allocations by the usable size of the block that the allocator returns. Malloc and
     * free are slower while the monitor runs.
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

  /** Returns a monitor that reports each request above a size. */
  public static MonitorOptions threshold(long bytes) {
    return new MonitorOptions(Kind.THRESHOLD, bytes, 0, Optional.empty());
  }

  /**
   * Returns this monitor, limited to the requests of one thread. The library stores at most 64
   * requests for each monitor. With this limit, requests of other threads are not stored.
   *
   * @param thread the kernel's id of the thread; 0 for all threads
   */
  public MonitorOptions withThread(int thread) {
    return new MonitorOptions(kind, bytes, thread, file);
  }

  /** Returns a monitor that reports when live bytes exceed a size. */
  public static MonitorOptions liveSize(long bytes) {
    return new MonitorOptions(Kind.LIVE_SIZE, bytes, 0, Optional.empty());
  }

  /** Returns a monitor that writes a row at each poll, at most one a second. */
  public static MonitorOptions csvFile(Path file) {
    return new MonitorOptions(Kind.CSV_FILE, 0, 0, Optional.of(file));
  }

  /** Returns a monitor that counts allocations by the size that the allocator returns. */
  public static MonitorOptions usableSizes() {
    return new MonitorOptions(Kind.USABLE_SIZES, 0, 0, Optional.empty());
  }

  /** Returns the monitors that the options request. */
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
   * Returns the monitor as text: the option that starts the monitor, such as {@code
   * threshold=209715200}, and the thread if the monitor is limited to one.
   */
  @Override
  public String toString() {
    String value = kind == Kind.USABLE_SIZES ? "true" : Long.toString(bytes);
    String option = kind.id() + "=" + file.map(Path::toString).orElse(value);
    return thread == 0 ? option : option + " of thread " + thread;
  }
}
