package io.mallometer.internal.diagnosis;

import io.mallometer.internal.process.FileCache;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.model.Account.Count;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.PageCache;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.Mapped;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A reading of the memory of a process, divided into parts. Successive readings show the growth of
 * each part. All values are read within milliseconds. Amounts are in bytes; unknown ones are {@code
 * NaN}.
 *
 * @param time the time of the reading
 * @param chargedBytes the memory that the kernel charges to the cgroup, without pages of files
 * @param resident the resident set
 * @param charged the memory charged to the cgroup, by part; empty outside a cgroup
 * @param liveBytes the live bytes of malloc, or their change since the attach if the live bytes are
 *     unknown
 * @param counts the numbers of threads and classes of the JVM
 * @param mapped the resident bytes by the call site that mapped them; empty if unknown
 * @param files the cached or mapped pages of files
 */
public record AccountReading(
    Instant time,
    double chargedBytes,
    Resident resident,
    Map<ChargedPart, Long> charged,
    double liveBytes,
    ProcessCounts counts,
    Optional<Map<MappingSite, Long>> mapped,
    PagesOfFiles files) {

  /** A call site that mapped memory: its name and its source line, which may be empty. */
  public record MappingSite(String name, String place) {}

  /** A reading leaves out files with fewer bytes than this. */
  private static final long LEAST_FILE_BYTES = 64 << 10;

  private static final int MOST_FILES = 100;

  private static final String DELETED = " (deleted)";

  /** A reading names only call sites that mapped at least this many bytes. */
  private static final long LEAST_MAPPED_BYTES = 1 << 20;

  private static final int MOST_MAPPING_SITES = 100;

  /**
   * The resident set, in bytes.
   *
   * @param bytes the resident set without pages of files that the kernel can drop
   * @param parts the bytes by part
   * @param copiedFileBytes the private copies of file pages that the process has written to
   * @param mallocBytes the memory of malloc
   */
  public record Resident(
      double bytes, Map<ResidentPart, Long> parts, long copiedFileBytes, double mallocBytes) {

    public Resident {
      parts = Map.copyOf(parts);
    }
  }

  /**
   * Cached or mapped pages of files in bytes, without the pages that the process wrote.
   *
   * @param largest the bytes of the largest files, by path
   * @param together the bytes of groups of files, by the name of the group: the deleted files, and
   *     the other mapped files of each type, such as {@code library files}
   * @param deleted the number of deleted files that are mapped or open
   */
  public record PagesOfFiles(Map<String, Long> largest, Map<String, Long> together, int deleted) {

    public PagesOfFiles {
      largest = Map.copyOf(largest);
      together = Map.copyOf(together);
    }
  }

  public AccountReading {
    charged = Map.copyOf(charged);
    mapped = mapped.map(Map::copyOf);
  }

  static AccountReading of(Snapshot snapshot, ResidentMemory split, ProcessCounts counts) {
    CgroupMemory cgroup = snapshot.memory().cgroup().orElse(null);
    HistoryPoint point = HistoryPoint.of(snapshot);
    return new AccountReading(
        snapshot.time(),
        cgroup == null ? Double.NaN : cgroup.usedBytes(),
        new Resident(
            Math.max(0, split.totalBytes() - split.fileBytes()),
            split.parts(),
            split.copiedFileBytes(),
            split.mallocBytes()),
        cgroup == null ? Map.of() : cgroup.parts(),
        Double.isNaN(point.liveBytes()) ? point.netBytes() : point.liveBytes(),
        counts.with(split.threadStacks()),
        split.mapped().map(AccountReading::bySite),
        files(split.mappedFiles(), split.pageCache()));
  }

  private static Map<MappingSite, Long> bySite(List<Mapped> mapped) {
    return mapped.stream()
        .filter(site -> site.bytes() >= LEAST_MAPPED_BYTES)
        .limit(MOST_MAPPING_SITES)
        .collect(
            Collectors.toMap(site -> new MappingSite(site.name(), site.place()), Mapped::bytes));
  }

  /** Returns the bytes of each file: its mapped pages, or its cached pages if it is not mapped. */
  static PagesOfFiles files(Map<String, Long> mapped, PageCache cached) {
    Map<String, Long> files = new HashMap<>(mapped);
    for (PageCache.CachedFile file : cached.allFiles()) {
      files.putIfAbsent(file.path() + (file.deleted() ? DELETED : ""), file.cachedBytes());
    }
    Map<String, Long> together = new HashMap<>(Map.of(Count.DELETED_FILES, 0L));
    int deleted = 0;
    for (Map.Entry<String, Long> file : files.entrySet()) {
      String path = file.getKey();
      if (path.endsWith(DELETED)) {
        deleted++;
        together.merge(Count.DELETED_FILES, file.getValue(), Long::sum);
      } else if (mapped.containsKey(path)) {
        together.merge(filesOfKind(FileCache.kind(path)), file.getValue(), Long::sum);
      }
    }
    return new PagesOfFiles(
        files.entrySet().stream()
            .filter(file -> file.getValue() >= LEAST_FILE_BYTES)
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .limit(MOST_FILES)
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)),
        together,
        deleted);
  }

  private static String filesOfKind(String kind) {
    return kind.equals(FileCache.OTHER) ? "files of other kinds" : kind + " files";
  }

  double total(boolean charged) {
    return charged ? chargedBytes : resident.bytes();
  }

  double of(ResidentPart part) {
    return resident.parts().getOrDefault(part, 0L);
  }

  double of(ChargedPart part) {
    return charged.getOrDefault(part, 0L);
  }
}
