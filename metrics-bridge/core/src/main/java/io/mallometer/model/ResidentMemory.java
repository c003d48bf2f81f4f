package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The resident memory of the process, split into parts.
 *
 * @param time when it was read; the split is made less often than the counters are read
 * @param totalBytes the resident set: the sum of all mappings, and of all parts
 * @param bytes resident bytes by part. A part that cannot be told apart on this JVM is absent; its
 *     memory is in another part, in doubt in {@link ResidentPart#UNEXPLAINED}
 * @param presumedBytes what of {@link ResidentPart#GC_AND_JVM} nothing identifies: anonymous memory
 *     that counts as the JVM's because its tables may be as large
 * @param copiedFileBytes what of {@link ResidentPart#MAPPED_FILES} the process has written, such as
 *     relocated data of libraries and class data archives: its own pages, which the kernel cannot
 *     read from the file again
 * @param nativeMemoryTracking whether the JVM's own figures were there to help
 * @param mappings how many mappings were read
 * @param costSeconds processor time that this split took
 * @param mallocBytes resident memory of malloc, whoever uses it; it is divided among several parts
 * @param largestFiles resident pages of mapped files, without copies that the process wrote, by the
 *     file's name; of the {@value #MOST_FILES} files with most
 * @param hugePages what of it is in transparent huge pages; empty where the kernel does not tell
 */
public record ResidentMemory(
    Instant time,
    long totalBytes,
    Map<ResidentPart, Long> bytes,
    long presumedBytes,
    long copiedFileBytes,
    boolean nativeMemoryTracking,
    int mappings,
    double costSeconds,
    long mallocBytes,
    Map<String, Long> largestFiles,
    Optional<HugePages> hugePages) {

  /** The most files that are listed. */
  public static final int MOST_FILES = 10;

  private static final Set<ResidentPart> OF_MALLOC =
      Set.of(
          ResidentPart.DIRECT_BUFFERS,
          ResidentPart.MALLOC_LIVE,
          ResidentPart.MALLOC_RETAINED,
          ResidentPart.MALLOC);

  /** A split of which nothing is known about huge pages and single files. */
  public ResidentMemory(
      Instant time,
      long totalBytes,
      Map<ResidentPart, Long> bytes,
      long presumedBytes,
      long copiedFileBytes,
      boolean nativeMemoryTracking,
      int mappings,
      double costSeconds) {
    this(
        time,
        totalBytes,
        bytes,
        presumedBytes,
        copiedFileBytes,
        nativeMemoryTracking,
        mappings,
        costSeconds,
        bytes.entrySet().stream()
            .filter(part -> OF_MALLOC.contains(part.getKey()))
            .mapToLong(Map.Entry::getValue)
            .sum(),
        Map.of(),
        Optional.empty());
  }

  public ResidentMemory {
    bytes = Map.copyOf(bytes);
    largestFiles = Map.copyOf(largestFiles);
  }

  /** Returns the resident bytes of a part; empty if the part could not be separated. */
  public Optional<Long> of(ResidentPart part) {
    return Optional.ofNullable(bytes.get(part));
  }

  /** Returns the pages of files without the copies that the process wrote. */
  public long fileBytes() {
    return Math.max(0, of(ResidentPart.MAPPED_FILES).orElse(0L) - copiedFileBytes);
  }

  /**
   * Resident memory in transparent huge pages, which the kernel makes resident as a whole at the
   * first access to any byte of it.
   *
   * @param bytes in huge pages, as the kernel counts them
   * @param parts the same for each part of the resident set, most first; memory of malloc is {@link
   *     ResidentPart#MALLOC}, in use or not
   * @param sentence the result in one sentence
   */
  public record HugePages(long bytes, List<Part> parts, String sentence) {

    /**
     * The huge pages of one part.
     *
     * @param part whose
     * @param bytes in huge pages
     */
    public record Part(ResidentPart part, long bytes) {}

    public HugePages {
      parts = List.copyOf(parts);
    }
  }
}
