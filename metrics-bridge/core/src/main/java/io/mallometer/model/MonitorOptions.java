package io.mallometer.model;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A ready-made monitor: what it waits for.
 *
 * @param kind what it does
 * @param bytes the size that has to be exceeded; 0 for {@link Kind#PERIODIC} and {@link
 *     Kind#RETURNED}
 * @param thread of which thread a {@link Kind#THRESHOLD} tells, by the number that {@link
 *     HugeAllocation#threadId} has; 0 for all threads
 * @param file where the rows are written; empty for all but {@link Kind#PERIODIC}
 */
public record MonitorOptions(Kind kind, long bytes, int thread, Optional<Path> file) {

  private static final Pattern SIZE = Pattern.compile("([1-9]\\d{0,11})([kKmMgGtT]?)");

  /** What a monitor does. */
  public enum Kind {
    /** Tells of each request above a size, with its stack. */
    THRESHOLD,
    /** Tells when live bytes cross a size upwards, with the call sites that hold most. */
    PRESENT,
    /** Writes a row of a CSV file at each poll. */
    PERIODIC,
    /**
     * Counts allocations by the size that the allocator hands out. Meanwhile all events take the
     * hook's longer path.
     */
    RETURNED;

    /**
     * Returns the name in options: {@code threshold}, {@code present}, {@code periodic}, {@code
     * returned}.
     */
    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public MonitorOptions {
    if (kind == Kind.PERIODIC && file.isEmpty()) {
      throw new IllegalArgumentException(kind.id() + " needs a file");
    }
    if ((kind == Kind.THRESHOLD || kind == Kind.PRESENT) && bytes < 1) {
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
  public static MonitorOptions present(long bytes) {
    return new MonitorOptions(Kind.PRESENT, bytes, 0, Optional.empty());
  }

  /** Writes a row at each poll, at most one a second. */
  public static MonitorOptions periodic(Path file) {
    return new MonitorOptions(Kind.PERIODIC, 0, 0, Optional.of(file));
  }

  /** Counts allocations by the size that the allocator hands out. */
  public static MonitorOptions returned() {
    return new MonitorOptions(Kind.RETURNED, 0, 0, Optional.empty());
  }

  /**
   * Reads options as text.
   *
   * @param kind {@code threshold}, {@code present}, {@code periodic} or {@code returned}
   * @param value a size such as {@code 200m} or {@code 2g}, the path of a file, or {@code true}
   * @throws IllegalArgumentException if the text is not understood
   */
  public static MonitorOptions of(String kind, String value) {
    return switch (kind) {
      case "threshold" -> threshold(size(kind, value));
      case "present" -> present(size(kind, value));
      case "periodic" -> periodic(path(value));
      case "returned" -> returned(value);
      default ->
          throw new IllegalArgumentException(
              "there is no monitor \"%s\": use threshold, present, periodic or returned"
                  .formatted(kind));
    };
  }

  private static MonitorOptions returned(String value) {
    if (!value.equals("true")) {
      throw new IllegalArgumentException("returned is \"%s\" and must be true".formatted(value));
    }
    return returned();
  }

  private static Path path(String value) {
    try {
      return Path.of(value);
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("periodic is \"%s\" and must be a file".formatted(value));
    }
  }

  private static long size(String kind, String value) {
    Matcher matcher = SIZE.matcher(value);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "%s is \"%s\" and must be a size, such as 200m or 2g".formatted(kind, value));
    }
    String unit = matcher.group(2).toLowerCase(Locale.ROOT);
    int shift = unit.isEmpty() ? 0 : 10 * (1 + "kmgt".indexOf(unit));
    long number = Long.parseLong(matcher.group(1));
    if (number > Long.MAX_VALUE >> shift) {
      throw new IllegalArgumentException("%s is \"%s\", which is too large".formatted(kind, value));
    }
    return number << shift;
  }

  /**
   * Returns the monitor as options have it, such as {@code threshold=209715200}, and its thread if
   * it is of one.
   */
  @Override
  public String toString() {
    String value = kind == Kind.RETURNED ? "true" : Long.toString(bytes);
    String option = kind.id() + "=" + file.map(Path::toString).orElse(value);
    return thread == 0 ? option : option + " of thread " + thread;
  }
}
