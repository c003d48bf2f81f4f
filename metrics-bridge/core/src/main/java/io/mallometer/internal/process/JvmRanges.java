package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Address ranges of the heap and the code, as the JVM reports them.
 *
 * <p>The commands {@code GC.heap_info} and {@code Compiler.codecache} need no safepoint and take
 * some ten microseconds. The addresses of metaspace are not read, because the only command that has
 * them stops the program.
 *
 * @param heap the ranges of the Java heap; empty with ZGC, whose heap is recognised by the name of
 *     its mappings
 * @param code the ranges of the code heaps
 */
record JvmRanges(List<Range> heap, List<Range> code) {

  /** Matches {@code [start, end)}, also with up to three further addresses in between. */
  private static final Pattern BRACKET =
      Pattern.compile(
          "\\[0x([0-9a-fA-F]{1,16})(?:, ?0x[0-9a-fA-F]{1,16}){0,3}, ?0x([0-9a-fA-F]{1,16})[)\\]]");

  static JvmRanges parse(String heapInfo, String codeCache) {
    return new JvmRanges(ranges(heapInfo), ranges(codeCache));
  }

  private static List<Range> ranges(String text) {
    List<Range> ranges = new ArrayList<>();
    Matcher bracket = BRACKET.matcher(text);
    while (bracket.find()) {
      OptionalLong start = TextNumbers.hexadecimal(bracket.group(1));
      OptionalLong end = TextNumbers.hexadecimal(bracket.group(2));
      if (start.isPresent() && end.isPresent() && start.getAsLong() < end.getAsLong()) {
        ranges.add(new Range(start.getAsLong(), end.getAsLong()));
      }
    }
    return List.copyOf(ranges);
  }
}
