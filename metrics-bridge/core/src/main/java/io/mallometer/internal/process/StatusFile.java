package io.mallometer.internal.process;

import java.util.OptionalLong;

/**
 * Reads {@code /proc/self/status}, and the resident set from {@code smaps_rollup}, as described in
 * proc(5).
 *
 * @param anonymousBytes the part of the resident set that no file backs; since Linux 4.5
 * @param fileBytes the part of the resident set in pages of files; since Linux 4.5
 */
record StatusFile(
    OptionalLong residentBytes,
    OptionalLong anonymousBytes,
    OptionalLong fileBytes,
    OptionalLong threads) {

  private static final String KILOBYTES = " kB";

  private static final long LARGEST = Long.MAX_VALUE / 1024;

  static StatusFile parse(String status) {
    OptionalLong resident = kilobytes("VmRSS:", status);
    return new StatusFile(
        resident.isPresent() ? resident : kilobytes("Rss:", status),
        kilobytes("RssAnon:", status),
        kilobytes("RssFile:", status),
        figure("Threads:", "", status));
  }

  /** Returns a number that is larger than all descriptors of the process. */
  static OptionalLong descriptors(String status) {
    return figure("FDSize:", "", status);
  }

  /**
   * Returns the value of a line of {@code /proc/self/status} or {@code /proc/meminfo}, converted
   * from kB to bytes.
   */
  static OptionalLong kilobytes(String name, String status) {
    OptionalLong number = figure(name, KILOBYTES, status);
    return number.orElse(LARGEST) < LARGEST
        ? OptionalLong.of(number.getAsLong() * 1024)
        : OptionalLong.empty();
  }

  private static OptionalLong figure(String name, String unit, String status) {
    int line = status.startsWith(name) ? 0 : status.indexOf("\n" + name) + 1;
    if (line == 0 && !status.startsWith(name)) {
      return OptionalLong.empty();
    }
    int newline = status.indexOf('\n', line);
    int end = (newline < 0 ? status.length() : newline) - unit.length();
    int from = line + name.length();
    return from < end && status.startsWith(unit, end)
        ? TextNumbers.decimal(status.substring(from, end))
        : OptionalLong.empty();
  }
}
