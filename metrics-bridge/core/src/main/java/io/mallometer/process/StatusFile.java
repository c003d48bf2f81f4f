package io.mallometer.process;

import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Reads {@code /proc/self/status}, and the resident set from {@code smaps_rollup}, as described in
 * proc(5).
 *
 * @param residentBytes the resident set
 * @param anonymousBytes the part of it that no file backs; since Linux 4.5
 * @param threads threads of the process
 */
record StatusFile(OptionalLong residentBytes, OptionalLong anonymousBytes, OptionalLong threads) {

  private static final Pattern RESIDENT = pattern("(?:VmRSS|Rss)", " kB");
  private static final Pattern ANONYMOUS = pattern("RssAnon", " kB");
  private static final Pattern THREADS = pattern("Threads", "");

  private static final long LARGEST = Long.MAX_VALUE / 1024;

  static StatusFile parse(String status) {
    return new StatusFile(
        kilobytes(RESIDENT, status), kilobytes(ANONYMOUS, status), Figures.first(THREADS, status));
  }

  private static OptionalLong kilobytes(Pattern pattern, String status) {
    OptionalLong number = Figures.first(pattern, status);
    return number.orElse(LARGEST) < LARGEST
        ? OptionalLong.of(number.getAsLong() * 1024)
        : OptionalLong.empty();
  }

  private static Pattern pattern(String name, String unit) {
    return Pattern.compile("^" + name + ":\\s+(\\d+)" + unit + "$", Pattern.MULTILINE);
  }
}
