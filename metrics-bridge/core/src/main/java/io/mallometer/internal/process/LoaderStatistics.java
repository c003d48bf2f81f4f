package io.mallometer.internal.process;

import io.mallometer.internal.process.DiagnosticCommands.Command;
import io.mallometer.model.CallSite;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.ClassLoaders.Kind;
import io.mallometer.model.StackFrame;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads class metadata by class loader with the command {@code VM.classloader_stats}, which walks
 * all classes at a safepoint. The command is not run if it may stop the program for longer than the
 * budget. The expected time is the time of the previous reading, or 0 without one, plus a
 * microsecond for each class loaded since then.
 *
 * <p>All callers share a result for 30 s. Thread-safe.
 */
public final class LoaderStatistics {

  /** The longest pause of the program that a reading is allowed to cause, in seconds. */
  static final double BUDGET_SECONDS = 0.02;

  private static final double SECONDS_PER_CLASS = 1e-6;
  private static final long HELD_NANOS = 30_000_000_000L;

  /** The time for which nothing is read after a reading that exceeded the budget: an hour. */
  private static final long REFUSED_NANOS = 3_600_000_000_000L;

  /**
   * Matches the row of a loader: the addresses of loader, parent and data, the number of classes,
   * the bytes of chunks and blocks, and the type.
   */
  private static final Pattern ROW =
      Pattern.compile(
          "(?m)^0x[0-9a-f]+ +0x[0-9a-f]+ +0x[0-9a-f]+ +(\\d{1,9}) +\\d{1,18} +(\\d{1,18}) +(\\S.*?) *$");

  private static final Pattern HIDDEN =
      Pattern.compile("(?m)^ +(\\d{1,9}) +\\d{1,18} +(\\d{1,18}) +\\+ (?:hidden|unsafe).*$");

  private static final Set<String> DEFINERS =
      Set.of("java.lang.ClassLoader", "jdk.internal.misc.Unsafe");

  private static final String REDEFINER = "sun.instrument.InstrumentationImpl";

  private static final String BOOT = "<boot class loader>";

  private final Clock clock;
  private final LongSupplier nanoTime;
  private final LongSupplier waitedNanos;
  private final IntSupplier loadedClasses;
  private final Supplier<String> command;
  private final Supplier<List<CallSite>> sites;
  private @Nullable ClassLoaders latest;
  private long latestAt;

  private double readSeconds;

  private int readClasses;
  private long readAt;

  /**
   * Creates a reader.
   *
   * @param waitedNanos the time for which the calling thread did not run, for example at a
   *     safepoint
   */
  LoaderStatistics(
      Clock clock,
      LongSupplier nanoTime,
      LongSupplier waitedNanos,
      IntSupplier loadedClasses,
      Supplier<String> command,
      Supplier<List<CallSite>> sites) {
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.waitedNanos = waitedNanos;
    this.loadedClasses = loadedClasses;
    this.command = command;
    this.sites = sites;
  }

  public static LoaderStatistics ofThisJvm(Clock clock, Supplier<List<CallSite>> sites) {
    return new LoaderStatistics(
        clock,
        System::nanoTime,
        LoaderStatistics::waited,
        ManagementFactory.getClassLoadingMXBean()::getLoadedClassCount,
        () -> DiagnosticCommands.run(Command.CLASS_LOADERS),
        sites);
  }

  /**
   * Returns the elapsed time minus the CPU time of this thread, in nanoseconds; only the difference
   * of two results has a meaning. The difference shows how long this thread waited, as during a
   * pause of the program.
   */
  private static long waited() {
    return System.nanoTime() - ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /**
   * Returns the latest result if it is recent. Otherwise reads the class loaders, unless this may
   * exceed the budget.
   */
  public synchronized ClassLoaders read() {
    long now = nanoTime.getAsLong();
    ClassLoaders held = latest;
    if (held == null || now - latestAt >= HELD_NANOS) {
      held = readAnew(now);
      latest = held;
      latestAt = now;
    }
    return held;
  }

  private ClassLoaders readAnew(long now) {
    int classes = loadedClasses.getAsInt();
    if (readSeconds > BUDGET_SECONDS && now - readAt >= REFUSED_NANOS) {
      readSeconds = 0;
      readClasses = 0;
    }
    double expected = readSeconds + Math.max(0, classes - readClasses) * SECONDS_PER_CLASS;
    if (expected > BUDGET_SECONDS) {
      return unread(
          "%,d classes and their loaders may stop the program for %.0f ms%s, and the budget is %.0f ms"
              .formatted(
                  classes,
                  expected * 1e3,
                  readSeconds > BUDGET_SECONDS ? " as at the last reading" : "",
                  BUDGET_SECONDS * 1e3));
    }
    // The first command loads classes, which would count as a pause of the program. So a cheap
    // command runs before the measurement.
    DiagnosticCommands.run(Command.HEAP);
    long start = waitedNanos.getAsLong();
    String text = command.get();
    double seconds = (waitedNanos.getAsLong() - start) / 1e9;
    List<Kind> kinds = parse(text, HotSpot.usedMetaspace());
    if (kinds.isEmpty()) {
      return unread("this JVM has no command VM.classloader_stats");
    }
    readSeconds = seconds;
    readClasses = classes;
    readAt = now;
    return new ClassLoaders(clock.instant(), seconds, kinds, definer(sites.get()), "");
  }

  private static boolean definesClasses(StackFrame frame) {
    return frame.kind() == StackFrame.Kind.JAVA
        && (DEFINERS.contains(frame.owner()) && frame.name().startsWith("defineClass")
            || frame.owner().equals(REDEFINER));
  }

  private ClassLoaders unread(String reason) {
    return new ClassLoaders(clock.instant(), Double.NaN, List.of(), definer(sites.get()), reason);
  }

  /**
   * Returns the line of code that allocates the most memory by defining or redefining classes;
   * empty if there is none. Lines are compared by their bytes per second or, if these are unknown,
   * by their total bytes.
   */
  static String definer(List<CallSite> sites) {
    Map<String, double[]> lines = new LinkedHashMap<>();
    for (CallSite site : sites) {
      if (site.frames().stream().anyMatch(LoaderStatistics::definesClasses)) {
        double[] bytes = lines.computeIfAbsent(site.line(), line -> new double[2]);
        bytes[0] += Double.isNaN(site.bytesPerSecond()) ? 0 : site.bytesPerSecond();
        bytes[1] += site.allocatedBytes().value();
      }
    }
    return lines.entrySet().stream()
        .max(
            Comparator.comparingDouble((Map.Entry<String, double[]> line) -> line.getValue()[0])
                .thenComparingDouble(line -> line.getValue()[1]))
        .map(Map.Entry::getKey)
        .orElse("");
  }

  /**
   * Reads the command's output. Sizes in the output of JDK 17 are numbers of eight-byte words,
   * although the command calls them bytes. The sum of all loaders is compared with the used
   * metaspace to find the unit.
   */
  static List<Kind> parse(String text, OptionalLong usedBytes) {
    Map<String, Kind> kinds = new LinkedHashMap<>();
    Matcher row = ROW.matcher(text);
    Matcher hidden = HIDDEN.matcher(text);
    while (row.find()) {
      String name = row.group(3).equals(BOOT) ? "boot class loader" : row.group(3);
      Kind kind = new Kind(name, 1, number(row.group(1)), Long.parseLong(row.group(2)));
      for (int at = row.end();
          at < text.length() && hidden.region(at + 1, nextLine(text, at)).matches(); ) {
        kind =
            new Kind(
                name,
                1,
                kind.classes() + number(hidden.group(1)),
                kind.metadataBytes() + Long.parseLong(hidden.group(2)));
        at = hidden.end();
      }
      kinds.merge(name, kind, LoaderStatistics::together);
    }
    double all = kinds.values().stream().mapToDouble(Kind::metadataBytes).sum();
    long unit = usedBytes.orElse(0) > all * Math.sqrt(Long.BYTES) ? Long.BYTES : 1;
    List<Kind> largest = new ArrayList<>(kinds.values());
    largest.sort(Comparator.comparingLong((Kind kind) -> -kind.metadataBytes()));
    return largest.stream()
        .limit(ClassLoaders.MOST_KINDS)
        .map(
            kind ->
                new Kind(
                    kind.loader(), kind.loaders(), kind.classes(), kind.metadataBytes() * unit))
        .toList();
  }

  private static int nextLine(String text, int at) {
    int end = text.indexOf('\n', at + 1);
    return end < 0 ? text.length() : end;
  }

  private static int number(String digits) {
    return Integer.parseInt(digits);
  }

  private static Kind together(Kind one, Kind other) {
    return new Kind(
        one.loader(),
        one.loaders() + other.loaders(),
        one.classes() + other.classes(),
        one.metadataBytes() + other.metadataBytes());
  }
}
