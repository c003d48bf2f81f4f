package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the JVM says that its heap and its code lie.
 *
 * <p>From {@code GC.heap_info} and {@code Compiler.codecache}, which need no safepoint and take
 * some ten microseconds. Metaspace has no such command: the one that tells addresses stops the
 * world.
 *
 * @param heap ranges of the Java heap; none under ZGC, whose heap has a name of its own
 * @param code ranges of the code heaps
 */
record JvmRanges(List<Range> heap, List<Range> code) {

  /** {@code [start, end)}, or with used and committed bounds in between, with or without spaces. */
  private static final Pattern BRACKET =
      Pattern.compile(
          "\\[0x([0-9a-fA-F]{1,16})(?:, ?0x[0-9a-fA-F]{1,16}){0,3}, ?0x([0-9a-fA-F]{1,16})[)\\]]");

  /** Reads both reports; ranges that make no sense are left out. */
  static JvmRanges parse(String heapInfo, String codeCache) {
    return new JvmRanges(ranges(heapInfo), ranges(codeCache));
  }

  private static List<Range> ranges(String text) {
    List<Range> ranges = new ArrayList<>();
    Matcher bracket = BRACKET.matcher(text);
    while (bracket.find()) {
      OptionalLong start = Figures.hexadecimal(bracket.group(1));
      OptionalLong end = Figures.hexadecimal(bracket.group(2));
      if (start.isPresent() && end.isPresent() && start.getAsLong() < end.getAsLong()) {
        ranges.add(new Range(start.getAsLong(), end.getAsLong()));
      }
    }
    return List.copyOf(ranges);
  }
}
