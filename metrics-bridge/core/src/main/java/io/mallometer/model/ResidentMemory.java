package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The resident memory of the process, split into parts.
 *
 * @param mallocBytes the resident bytes of malloc. They are contained in several parts, such as
 *     direct buffers and live memory of malloc
 * @param mappedFiles the resident bytes of mapped files by path, without private copies of pages
 *     that the process has written
 */
public record ResidentMemory(
    @Figure("When it was read; the split is made less often than the counters are read")
        Instant time,
    @Figure(value = "The resident set: the sum of all mappings, and of all parts", unit = BYTES)
        long totalBytes,
    @Figure(
            value =
                "Resident memory by part; the parts add up to the resident set. A part that cannot be told apart on this JVM is "
                    + "absent; its memory is in another part, in doubt in unexplained",
            unit = BYTES)
        Map<ResidentPart, Long> parts,
    @Figure(
            value =
                "The part of gc_and_jvm that nothing identifies: anonymous memory that counts as the JVM's because its tables may be as large",
            unit = BYTES)
        long presumedBytes,
    @Figure(
            value =
                "The part of mapped_files that the process has written, such as relocated data of libraries and class data archives: its own pages, which the kernel cannot read from the file again",
            unit = BYTES)
        long copiedFileBytes,
    @Figure("Whether the JVM's own figures were there to help") boolean nativeMemoryTracking,
    @Figure(
            "What tells memory without a report apart: frames of the call that reserved it, or "
                + "rules")
        String decidedBy,
    @Figure(value = "How many mappings were read", unit = COUNT) int mappings,
    @Figure(value = "Processor time that this split took", unit = SECONDS) double costSeconds,
    long mallocBytes,
    Map<String, Long> mappedFiles,
    @Figure(
            "The part of the resident set in transparent huge pages; empty where the kernel does not tell")
        Optional<HugePages> hugePages,
    @Figure("What stands behind the stacks of threads") ThreadStacks threadStacks,
    @Figure("The page cache by file; read at most once a minute") PageCache pageCache,
    @Figure(
            "The part of unexplained that the program or its libraries mapped, most first; empty at first")
        Optional<List<Mapped>> mapped) {

  /** Resident memory that one call site mapped. */
  public record Mapped(
      @Figure("The call site: Class.method, or library!symbol") String name,
      @Figure("Its source line, such as Mapper.java:12; empty if unknown") String place,
      @Figure(value = "Resident bytes", unit = BYTES) long bytes) {}

  /**
   * The value of {@link #decidedBy} if stack frames decide which memory belongs to the JVM. The
   * library must have recorded the stacks of the calls that reserve memory since the JVM started.
   */
  public static final String BY_FRAMES = "frames";

  public static final String BY_RULES = "rules";

  /** The largest number of files that are listed. */
  public static final int MOST_FILES = 10;

  private static final Set<ResidentPart> OF_MALLOC =
      Set.of(
          ResidentPart.DIRECT_BUFFERS,
          ResidentPart.MALLOC_LIVE,
          ResidentPart.MALLOC_RETAINED,
          ResidentPart.MALLOC);

  /**
   * Creates resident memory without figures of transparent huge pages, single files and threads.
   */
  public ResidentMemory(
      Instant time,
      long totalBytes,
      Map<ResidentPart, Long> parts,
      long presumedBytes,
      long copiedFileBytes,
      boolean nativeMemoryTracking,
      int mappings,
      double costSeconds) {
    this(
        time,
        totalBytes,
        parts,
        presumedBytes,
        copiedFileBytes,
        nativeMemoryTracking,
        BY_RULES,
        mappings,
        costSeconds,
        parts.entrySet().stream()
            .filter(part -> OF_MALLOC.contains(part.getKey()))
            .mapToLong(Map.Entry::getValue)
            .sum(),
        Map.of(),
        Optional.empty(),
        ThreadStacks.NONE,
        PageCache.NONE,
        Optional.empty());
  }

  public ResidentMemory {
    parts = Map.copyOf(parts);
    mappedFiles = Map.copyOf(mappedFiles);
    mapped = mapped.map(List::copyOf);
  }

  /**
   * Returns the resident bytes of the mapped files with most resident pages, by the file's name.
   */
  @Figure(
      value =
          "Resident pages of mapped files, without copies that the process wrote, by the "
              + "file's name; of the 10 files with most",
      unit = BYTES)
  public Map<String, Long> largestFiles() {
    return mappedFiles.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .limit(MOST_FILES)
        .collect(
            Collectors.toMap(
                file -> file.getKey().substring(file.getKey().lastIndexOf('/') + 1),
                Map.Entry::getValue,
                Long::sum));
  }

  /** Returns the resident bytes of a part; empty if the part could not be separated. */
  public Optional<Long> of(ResidentPart part) {
    return Optional.ofNullable(parts.get(part));
  }

  /**
   * Returns the resident bytes of mapped files, without private copies of pages that the process
   * has written.
   */
  public long fileBytes() {
    return Math.max(0, of(ResidentPart.MAPPED_FILES).orElse(0L) - copiedFileBytes);
  }

  /**
   * The resident memory in transparent huge pages. One access to any byte makes the whole huge page
   * resident.
   */
  public record HugePages(
      @Figure(
              value = "Resident memory in transparent huge pages, as the kernel counts them",
              unit = BYTES,
              meter = "native.memory.thp",
              attribute = "ThpBytes")
          long bytes,
      @Figure(
              "Huge pages of each part of the resident set, most first; memory of malloc is malloc, in use or not")
          List<Part> parts,
      @Figure("The result in one sentence") String sentence) {

    /** The bytes of one part of the resident set that are in transparent huge pages. */
    public record Part(
        @Figure("Whose") ResidentPart part,
        @Figure(value = "In huge pages", unit = BYTES) long bytes) {}

    public HugePages {
      parts = List.copyOf(parts);
    }
  }
}
