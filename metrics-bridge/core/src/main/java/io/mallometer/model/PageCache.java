package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.SECONDS;

import io.mallometer.internal.text.HumanText;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The cached pages of the files that this process has open or mapped. They include pages charged to
 * other cgroups, so their sum may exceed the page cache of this cgroup.
 *
 * @param allFiles all files with cached pages, most first
 */
public record PageCache(
    List<CachedFile> allFiles,
    @Figure(value = "The cached pages of all files that were read", unit = BYTES)
        long allCachedBytes,
    @Figure(value = "Cached pages by the kind of file, which its name tells", unit = BYTES)
        Map<String, Long> cachedByKind,
    @Figure(
            value = "Processor time of the latest reading, which ends after 20 ms a minute",
            unit = SECONDS)
        double readingSeconds,
    @Figure("Why files or their pages are missing; empty if none are known to be") String gaps) {

  /** The largest number of files that are listed. */
  public static final int MOST_CACHED = 20;

  private static final int MOST_NAMED = 3;

  /** The page cache of a process whose files were not read. */
  public static final PageCache NONE = new PageCache(List.of(), 0, Map.of(), 0, "");

  /** A file with cached pages. */
  public record CachedFile(
      @Figure("The path") String path,
      @Figure("The kind of file, by its name: library, archive, sst, index, log or other")
          String sort,
      @Figure(
              value = "Its cached pages; of a file above 256 MiB an estimate from 128 pieces",
              unit = BYTES)
          long cachedBytes,
      @Figure("Whether the file was deleted, and takes disk and page cache until it is closed")
          boolean deleted) {

    /** Returns the file in words, such as {@code 000123.sst (64 MiB)}. */
    @Override
    public String toString() {
      return "%s (%s%s)"
          .formatted(
              path.substring(path.lastIndexOf('/') + 1),
              HumanText.bytes(cachedBytes),
              deleted ? ", deleted" : "");
    }
  }

  public PageCache {
    allFiles = List.copyOf(allFiles);
    cachedByKind = Map.copyOf(cachedByKind);
  }

  /** Returns the files with most cached pages. */
  @Figure("The files with most cached pages, most first; at most 20")
  public List<CachedFile> cachedFiles() {
    return allFiles.subList(0, Math.min(allFiles.size(), MOST_CACHED));
  }

  /** Returns the kinds and the largest files in one sentence; empty without files. */
  @Figure("The kinds and the largest files in one sentence; empty without files")
  public String cachedSentence() {
    if (allFiles.isEmpty()) {
      return "";
    }
    String kinds =
        cachedByKind.entrySet().stream()
            .sorted(Comparator.comparingLong((Map.Entry<String, Long> kind) -> -kind.getValue()))
            .limit(MOST_NAMED)
            .map(kind -> kind.getKey() + " " + HumanText.bytes(kind.getValue()))
            .collect(Collectors.joining(", "));
    return allFiles.stream()
        .limit(MOST_NAMED)
        .map(CachedFile::toString)
        .collect(
            Collectors.joining(
                ", ",
                "Page cache of the files in use, charged to any cgroup: %s; largest: "
                    .formatted(kinds),
                "."));
  }
}
