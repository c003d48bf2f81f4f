package io.mallometer.internal.process;

import io.mallometer.internal.process.DiagnosticCommands.Command;
import io.mallometer.model.ClassLoaders;
import io.mallometer.model.ClassLoaders.Kind;
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Class metadata by class loader: the command {@code VM.classloader_stats}, which walks all classes
 * at a safepoint. 10,000 classes took 6 ms on JDK 17 and 8 ms on JDK 25, so the pause is estimated
 * by the number of classes, and a command that may take longer than the budget is not run.
 */
public final class LoaderStatistics {

  /** The longest pause of the program, in seconds. */
  static final double BUDGET_SECONDS = 0.02;

  private static final double SECONDS_PER_CLASS = 1e-6;

  /** Matches loader, parent, address, classes, bytes of chunks and of blocks, and the type. */
  private static final Pattern ROW =
      Pattern.compile(
          "(?m)^0x[0-9a-f]+ +0x[0-9a-f]+ +0x[0-9a-f]+ +(\\d{1,9}) +\\d{1,18} +(\\d{1,18}) +(\\S.*?) *$");

  /** Matches hidden classes, a row below that of their loader. */
  private static final Pattern HIDDEN =
      Pattern.compile("(?m)^ +(\\d{1,9}) +\\d{1,18} +(\\d{1,18}) +\\+ (?:hidden|unsafe).*$");

  private static final String BOOT = "<boot class loader>";

  private LoaderStatistics() {}

  /** Reads the class loaders of this JVM, unless that may exceed the budget. */
  public static ClassLoaders read(Instant time) {
    int classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
    String refusal = refusal(classes);
    if (!refusal.isEmpty()) {
      return new ClassLoaders(time, Double.NaN, List.of(), refusal);
    }
    long start = System.nanoTime();
    String text = DiagnosticCommands.run(Command.CLASS_LOADERS);
    double seconds = (System.nanoTime() - start) / 1e9;
    List<Kind> kinds = parse(text, HotSpot.usedMetaspace());
    return kinds.isEmpty()
        ? new ClassLoaders(time, Double.NaN, kinds, "this JVM has no command VM.classloader_stats")
        : new ClassLoaders(time, seconds, kinds, "");
  }

  /** Returns why the command is not run with so many classes; empty if it is. */
  static String refusal(int classes) {
    double seconds = classes * SECONDS_PER_CLASS;
    return seconds > BUDGET_SECONDS
        ? "%,d classes may stop the program for %.0f ms, and the budget is %.0f ms"
            .formatted(classes, seconds * 1e3, BUDGET_SECONDS * 1e3)
        : "";
  }

  /**
   * Reads the command's output. JDK 17 prints words of eight bytes and calls them bytes, so the
   * unit is the one in which all loaders together are nearer to the metaspace in use.
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
