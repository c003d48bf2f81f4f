package io.mallometer.internal.process;

import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The native memory that the JVM uses itself, from the summary of native memory tracking. The
 * detailed report is not used, because it takes a second of CPU time.
 *
 * @param mallocBytes the bytes that the JVM's own code has from malloc, without those that Java
 *     code requests (the category {@code Other}: direct buffers and Unsafe)
 * @param structureBytes the bytes that the JVM committed for its own structures. Heap, classes,
 *     code, stacks and class data archives are excluded, because they are recognised by their
 *     addresses
 */
record NativeMemoryTracking(long mallocBytes, long structureBytes) {

  private static final Pattern CATEGORY = Pattern.compile("^-\\s*(.+?) \\(reserved=");

  /** Matches {@code (malloc=12 #3)} of JDK 17, and {@code (malloc=12 tag=GC #3)} of later JDKs. */
  private static final Pattern MALLOC = Pattern.compile("^\\s*\\((?:malloc|arena)=(\\d+)");

  private static final Pattern OVERHEAD = Pattern.compile("^\\s*\\(tracking overhead=(\\d+)");
  private static final Pattern MAPPED =
      Pattern.compile("^\\s*\\(mmap: reserved=\\d+, committed=(\\d+)");

  private static final String REQUESTED_BY_JAVA = "Other";
  private static final Set<String> RECOGNISED_BY_ADDRESS =
      Set.of("Java Heap", "Class", "Metaspace", "Code", "Thread", "Shared class space");

  /**
   * Reads the report of {@code VM.native_memory summary scale=1}; empty for another text, as when
   * tracking is off.
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
          malloc = TextNumbers.sum(malloc, TextNumbers.first(MALLOC, line));
          malloc = TextNumbers.sum(malloc, TextNumbers.first(OVERHEAD, line));
        }
        if (!RECOGNISED_BY_ADDRESS.contains(category)) {
          structures = TextNumbers.sum(structures, TextNumbers.first(MAPPED, line));
        }
      }
    }
    return any ? Optional.of(new NativeMemoryTracking(malloc, structures)) : Optional.empty();
  }
}
