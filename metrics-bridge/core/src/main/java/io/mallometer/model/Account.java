package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.BYTES_PER_SECOND;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The growth of the process's memory in a window of time, as a table. The rows add up to the growth
 * of the total. The figures at each end of the window are means over up to 50 seconds.
 */
public record Account(
    @Figure("The first reading of the window") Instant from,
    @Figure("The last reading of the window") Instant to,
    @Figure(
            "What the total is: charged, what the kernel charges to the cgroup, or resident, the"
                + " resident set; both without pages of files that the kernel can drop")
        String basis,
    @Figure("The total") Row total,
    @Figure("Disjoint parts of the total, those that grew most first; falling ones are last")
        List<Row> rows,
    @Figure("Numbers that explain a row, such as threads or classes") List<Count> counts,
    @Figure(
            "The files with pages that the kernel can drop, cached or mapped, those that grew "
                + "most first; they are no part of the total")
        List<FilePages> files) {

  /**
   * The value of {@link #basis} if the cgroup has a limit. The total is then the memory charged to
   * the cgroup.
   */
  public static final String CHARGED = "charged";

  /**
   * The value of {@link #basis} if the cgroup has no limit. The total is then the resident memory.
   */
  public static final String RESIDENT = "resident";

  /** The kind of a row. */
  public enum Kind implements Tagged {
    /** The sum of all rows. */
    TOTAL("memory"),
    /**
     * Resident part of the live bytes of one call site. The name of the row is that of the call
     * site.
     */
    SITE("call site"),
    /** Live bytes of the chunks of a memory pool, over all call sites that allocated chunks. */
    POOL("chunks of a pool"),
    /** Live bytes of all call sites that have no row of their own. */
    OTHER_SITES("other call sites"),
    /**
     * Live bytes of malloc minus the bytes estimated for all call sites. The growth of the call
     * sites is corrected towards the growth of the live bytes, at most by the sampling error. This
     * row grows by the difference that remains.
     */
    SAMPLING("sampling difference"),
    /** Live bytes of malloc if no call site is known. */
    LIVE("live memory of malloc"),
    /** Resident memory of malloc that is not live. */
    RETAINED("malloc retained"),
    /** Resident memory of malloc if live bytes are not counted. */
    MALLOC("malloc"),
    /** The Java heap. */
    HEAP("Java heap"),
    /** Class metadata, including the compressed class space. */
    METASPACE("metaspace"),
    /** Compiled and generated code. */
    CODE("code cache"),
    /** Stacks of all threads. */
    STACKS("thread stacks"),
    /** Structures of the JVM that are not from malloc. */
    JVM("JVM structures"),
    /** Pages of a mapped file that became private copies because the process wrote to them. */
    COPIES("written pages of files"),
    /** Shared memory that is mapped. */
    SHARED("shared memory"),
    /** Memory of mallometer itself. */
    MALLOMETER("mallometer"),
    /**
     * Anonymous memory that the program or a library mapped. The name of the row is that of the
     * call site.
     */
    MAPPED("mapped by a call site"),
    /** Anonymous memory outside malloc and the JVM that is in no other row. */
    ANONYMOUS("anonymous memory outside malloc"),
    /** Kernel memory of the cgroup, such as page tables and kernel stacks. */
    KERNEL("kernel memory"),
    /** Files in tmpfs that are not mapped. */
    TMPFS("files in tmpfs"),
    /** Network buffers of the cgroup. */
    SOCKETS("network buffers"),
    /** Anonymous memory of the cgroup's other processes. */
    OTHERS("other processes"),
    /** The total minus all other rows. */
    UNATTRIBUTED("not attributed");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    /** Returns the kind in words, such as {@code malloc retained}. */
    public String words() {
      return words;
    }

    /** Returns the name in JSON, such as {@code site}. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** A row of the table. */
  public record Row(
      @Figure("What it consists of") Kind kind,
      @Figure("The call site's name, the pool, else the kind in words") String name,
      @Figure(
              "The source line of a call site that a person can change, such as Cache.java:12; of "
                  + "a pool the line whose buffers keep its chunks, of "
                  + "thread stacks the call site that started most threads; empty if unknown")
          String place,
      @Figure(value = "The bytes at the end of the window", unit = BYTES) double bytes,
      @Figure(value = "The bytes at the end less those at the start", unit = BYTES)
          double growthBytes,
      @Figure(
              value = "The lower end of the 95 % interval of the growth in a second",
              unit = BYTES_PER_SECOND)
          double lowerPerSecond,
      @Figure(value = "The growth in a second", unit = BYTES_PER_SECOND) double bytesPerSecond,
      @Figure(value = "The upper end", unit = BYTES_PER_SECOND) double upperPerSecond,
      @Figure("Whether the bytes are counted, not estimated from samples") boolean exact,
      @Figure("Whether the row grew, and does not in the last third of the window") boolean plateau,
      @Figure(
              value =
                  "The largest size that a setting allows, of the total the limit that somebody "
                      + "set; unknown without one",
              unit = BYTES)
          double maximumBytes,
      @Figure(
              value =
                  "The part of a call site's growth in a second that an old garbage collection "
                      + "frees; 0 if none or unknown",
              unit = BYTES_PER_SECOND)
          double garbagePerSecond) {

    /**
     * Returns whether the row grows: the 95 % interval of its growth is above zero, and the growth
     * has not stopped.
     */
    public boolean grows() {
      return lowerPerSecond > 0 && !plateau;
    }

    /**
     * Returns the bytes that are left until the row reaches its maximum. Infinite without a
     * maximum.
     */
    public double room() {
      return Double.isNaN(maximumBytes)
          ? Double.POSITIVE_INFINITY
          : Math.max(0, maximumBytes - bytes);
    }
  }

  /** A number of things, such as threads, at the end of the window. */
  public record Count(
      @Figure(
              "What is counted: threads, ended threads, classes, deleted files, or the threads of "
                  + "a pool, by their name with # for each number")
          String name,
      @Figure(value = "The count", unit = COUNT) double count,
      @Figure(value = "The count less that at the start", unit = COUNT) double growth,
      @Figure("The growth in a minute") double perMinute,
      @Figure("Whether the growth's 95 % interval excludes zero") boolean steady) {

    /** The name of the count of all threads of the process. */
    public static final String THREADS = "threads";

    /** The name of the count of threads that ended since the JVM started. */
    public static final String ENDED_THREADS = "ended threads";

    /** The name of the count of loaded classes. */
    public static final String CLASSES = "classes";

    /**
     * The name of the count of deleted files that are still mapped or open. In {@link
     * Account#files}, the row for the pages of these files has the same name.
     */
    public static final String DELETED_FILES = "deleted files";
  }

  /** Cached or mapped pages of a file. */
  public record FilePages(
      @Figure("The file's name, or the kind of many files, such as deleted files") String name,
      @Figure(value = "The bytes at the end of the window", unit = BYTES) double bytes,
      @Figure(value = "The bytes at the end less those at the start", unit = BYTES)
          double growthBytes) {}

  public Account {
    rows = List.copyOf(rows);
    counts = List.copyOf(counts);
    files = List.copyOf(files);
  }

  /** Returns the rows that grew. */
  public List<Row> positive() {
    return rows.stream().filter(row -> row.growthBytes() > 0).toList();
  }

  /** Returns the sum of the growth of the rows that grew. */
  public double positiveBytes() {
    return positive().stream().mapToDouble(Row::growthBytes).sum();
  }

  /** Returns the row of a kind and name; empty if there is none. */
  public Optional<Row> row(Kind kind, String name) {
    return rows.stream().filter(row -> row.kind() == kind && row.name().equals(name)).findFirst();
  }

  /** Returns a count by its name. */
  public Optional<Count> count(String name) {
    return counts.stream().filter(count -> count.name().equals(name)).findFirst();
  }
}
