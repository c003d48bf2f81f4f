package io.mallometer.internal.process;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the JVM says about its own native memory: the summary of native memory tracking.
 *
 * <p>Only the summary. The detailed report names addresses, but resolves symbols for every call
 * site and takes a second of processor time.
 *
 * @param mallocBytes what the JVM's own code obtained from malloc. Without category {@code Other},
 *     which holds what Java code asked for: direct buffers and Unsafe
 * @param structureBytes what it mapped and committed for itself: all but heap, classes, code,
 *     stacks and class data archives, which are recognised by their addresses
 */
record NativeMemoryTracking(long mallocBytes, long structureBytes) {

  private static final Pattern CATEGORY = Pattern.compile("^-\\s*(.+?) \\(reserved=");

  /** {@code (malloc=12 #3)} of JDK 17, {@code (malloc=12 tag=GC #3)} of later ones. */
  private static final Pattern MALLOC = Pattern.compile("^\\s*\\((?:malloc|arena)=(\\d+)");

  private static final Pattern OVERHEAD = Pattern.compile("^\\s*\\(tracking overhead=(\\d+)");
  private static final Pattern MAPPED =
      Pattern.compile("^\\s*\\(mmap: reserved=\\d+, committed=(\\d+)");

  private static final String REQUESTED_BY_JAVA = "Other";
  private static final Set<String> RECOGNISED_BY_ADDRESS =
      Set.of("Java Heap", "Class", "Metaspace", "Code", "Thread", "Shared class space");

  /**
   * Reads the report of {@code VM.native_memory summary scale=1}; empty if it is none, such as
   * "Native memory tracking is not enabled".
   */
  static Optional<NativeMemoryTracking> parse(String report) {
    String category = "";
    long malloc = 0;
    long structures = 0;
    boolean any = false;
    for (String line : report.split("\n")) {
      Matcher header = CATEGORY.matcher(line);
      if (header.find()) {
        category = header.group(1).strip();
        any = true;
      } else if (!category.isEmpty()) {
        if (!category.equals(REQUESTED_BY_JAVA)) {
          malloc = Figures.sum(malloc, Figures.first(MALLOC, line));
          malloc = Figures.sum(malloc, Figures.first(OVERHEAD, line));
        }
        if (!RECOGNISED_BY_ADDRESS.contains(category)) {
          structures = Figures.sum(structures, Figures.first(MAPPED, line));
        }
      }
    }
    return any ? Optional.of(new NativeMemoryTracking(malloc, structures)) : Optional.empty();
  }
}
