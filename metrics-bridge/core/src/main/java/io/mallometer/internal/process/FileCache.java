package io.mallometer.internal.process;

import io.mallometer.internal.library.abi.DirectCalls;
import io.mallometer.model.PageCache;
import io.mallometer.model.PageCache.CachedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * Reads the number of cached pages of the files that this process has open or mapped. Uses
 * cachestat for open files and mincore for mapped ones, or the resident pages of the mappings if
 * the kernel supports neither. Opens no file, and never waits for a disk or a network.
 *
 * <p>A reading takes at most 20 ms of CPU time, at most half of it for open files. The next
 * reading, a minute later, continues where this one ended.
 */
public final class FileCache {

  static final long PACE_NANOS = 60_000_000_000L;
  static final long BUDGET_NANOS = 20_000_000L;

  private static final String DELETED = " (deleted)";
  private static final int MOST_FILES = 10_000;

  /**
   * Matches paths that name no file on a disk, such as the paths of kernel files, devices and
   * anonymous memory.
   */
  private static final Pattern NO_FILE =
      Pattern.compile("/(?:proc|sys|dev)/.*|/memfd:.*|/SYSV.*|//anon.*|/\\[.*|[^/].*");

  public static final String OTHER = "other";

  private static final Pattern LIBRARY = Pattern.compile(".*\\.so(?:\\.[\\d.]+)?");
  private static final Pattern ARCHIVE =
      Pattern.compile(".*(?:\\.(?:jar|war|zip|jmod|jsa)|/modules)");
  private static final Pattern SST = Pattern.compile(".*\\.(?:sst|ldb)");
  private static final Pattern LOG = Pattern.compile(".*\\.(?:log|out|gc)(?:\\.\\d+)?");

  private static final Pattern INDEX =
      Pattern.compile(
          ".*\\.(?:index|timeindex|cfs|cfe|fdt|fdx|fdm|tim|tip|tmd|doc|pos|pay|dvd|dvm|nvd|nvm"
              + "|kdd|kdi|kdm|vec|vex|si)");

  /** The native library's result for a closed descriptor. */
  private static final int CLOSED = -9;

  private static final int NO_REGULAR_FILE = -22;

  /** The native library's result for a mapping whose cached pages the kernel hides. */
  private static final int NOT_PERMITTED = -1;

  private static final Map<Long, String> REFUSALS =
      Map.of(
          DirectCalls.NOT_LINKED,
          "the library's functions are not available",
          -38L,
          "the kernel has no cachestat, which Linux has from 6.5 on",
          -66L,
          "files of a network are not asked for, as the answer may wait for it",
          -95L,
          "cachestat sees no pages of an overlay",
          -18L,
          "their file system is unknown");

  interface Kernel {
    /**
     * Returns the cached bytes of an open file by its descriptor, or of a mapping by its beginning
     * and length. A negative result is an error.
     */
    long cached(int descriptor, long begin, long bytes);

    /** Returns a number that is larger than all descriptors. */
    int descriptors();

    String path(int descriptor) throws IOException;
  }

  /**
   * The latest reading of a file.
   *
   * @param bytes the cached bytes, negative if unknown
   * @param pass the number of the latest pass over all descriptors in which the file was open; 0 if
   *     it is only mapped
   * @param residentOnly whether the bytes are only the resident bytes of the file's mappings
   */
  private record Known(long bytes, int pass, boolean residentOnly) {}

  private final Kernel kernel;
  private final LongSupplier processorNanos;

  /** The cached bytes by path. The file that was read longest ago comes first. */
  private final Map<String, Known> known = new LinkedHashMap<>();

  private PageCache latest = PageCache.NONE;
  private long readAt;
  private boolean everRead;
  private int nextDescriptor;
  private int pass = 1;
  private int end;
  private String hidden = "";

  FileCache(Kernel kernel, LongSupplier processorNanos) {
    this.kernel = kernel;
    this.processorNanos = processorNanos;
  }

  static FileCache ofThisProcess(ProcessFiles files, LongSupplier processorNanos) {
    return new FileCache(
        new Kernel() {
          @Override
          public long cached(int descriptor, long begin, long bytes) {
            return DirectCalls.cachedBytes(descriptor, begin, bytes);
          }

          @Override
          public int descriptors() {
            return (int) StatusFile.descriptors(files.own("status").orElse("")).orElse(0);
          }

          @Override
          public String path(int descriptor) throws IOException {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
          }
        },
        processorNanos);
  }

  /** Reads the files if the latest reading is a minute old, and returns the latest result. */
  PageCache read(List<Mapping> mappings, long now) {
    if (!everRead || now - readAt >= PACE_NANOS) {
      everRead = true;
      readAt = now;
      latest = measure(mappings);
    }
    return latest;
  }

  private PageCache measure(List<Mapping> mappings) {
    long start = processorNanos.getAsLong();
    Map<String, List<Mapping>> mapped = mapped(mappings);
    boolean allOpen = measureOpen(start + BUDGET_NANOS / 2);
    known
        .entrySet()
        .removeIf(file -> file.getValue().pass() == 0 && !mapped.containsKey(file.getKey()));
    boolean allMapped = measureMapped(mapped, start + BUDGET_NANOS);
    return toCache(gaps(allOpen && allMapped), (processorNanos.getAsLong() - start) / 1e9);
  }

  private static Map<String, List<Mapping>> mapped(List<Mapping> mappings) {
    Map<String, List<Mapping>> files = new LinkedHashMap<>();
    for (Mapping mapping : mappings) {
      if (!mapping.anonymous() && !NO_FILE.matcher(mapping.name()).matches()) {
        files.computeIfAbsent(mapping.name(), path -> new ArrayList<>()).add(mapping);
      }
    }
    return files;
  }

  /**
   * Measures open files, beginning where the previous reading ended. Returns false if the time ran
   * out before all descriptors were measured.
   */
  private boolean measureOpen(long until) {
    boolean whole;
    do {
      whole = nextDescriptor == 0;
      if (!finishPass(until)) {
        return false;
      }
    } while (!whole);
    return true;
  }

  /**
   * Measures how much of each remaining descriptor's file is cached. Returns false if the time ran
   * out before the last descriptor.
   */
  private boolean finishPass(long until) {
    hidden = "";
    try {
      if (nextDescriptor == 0) {
        end = kernel.descriptors();
        hidden = end == 0 ? "the kernel does not tell the number of descriptors" : "";
      }
      while (nextDescriptor < end) {
        if (processorNanos.getAsLong() >= until) {
          return false;
        }
        measure(nextDescriptor++);
      }
    } catch (SecurityException e) {
      hidden = "a security manager hides open files";
    }
    known.replaceAll(
        (path, file) -> file.pass() == pass ? file : new Known(file.bytes(), 0, false));
    nextDescriptor = 0;
    pass++;
    return true;
  }

  private void measure(int descriptor) {
    long bytes = kernel.cached(descriptor, 0, 0);
    if (bytes == CLOSED || bytes == NO_REGULAR_FILE) {
      return;
    }
    try {
      String path = kernel.path(descriptor);
      if (!NO_FILE.matcher(path).matches()) {
        note(path, new Known(bytes, pass, false));
      }
    } catch (IOException e) {
      // The descriptor was closed meanwhile.
    }
  }

  private void note(String path, Known file) {
    if (known.remove(path) != null || known.size() < MOST_FILES) {
      known.put(path, file);
    }
  }

  /**
   * Measures mapped files, beginning with the one that was read longest ago. Returns whether all
   * were measured.
   */
  private boolean measureMapped(Map<String, List<Mapping>> mapped, long until) {
    List<String> order = new ArrayList<>(mapped.keySet());
    order.removeAll(known.keySet());
    known.keySet().stream().filter(mapped::containsKey).forEach(order::add);
    for (String path : order) {
      if (processorNanos.getAsLong() >= until) {
        return false;
      }
      Known open = known.get(path);
      if (open == null || open.bytes() < 0 || open.pass() == 0) {
        note(path, mappedFile(mapped.get(path), open == null ? 0 : open.pass()));
      }
    }
    return true;
  }

  /**
   * Reads the cached bytes of a mapped file. The pages that the process copied by writing are
   * subtracted, because mincore counts them as cached.
   */
  private Known mappedFile(List<Mapping> mappings, int seen) {
    long sum = 0;
    boolean residentOnly = false;
    for (Mapping mapping : mappings) {
      long cached = kernel.cached(-1, mapping.start(), mapping.bytes());
      sum += Math.max(cached, mapping.residentBytes()) - mapping.copiedBytes();
      residentOnly |= cached == NOT_PERMITTED;
    }
    return new Known(sum, seen, residentOnly);
  }

  private String gaps(boolean whole) {
    List<String> gaps = new ArrayList<>();
    if (!hidden.isEmpty()) {
      gaps.add(hidden);
    }
    if (!whole) {
      gaps.add("some files were read more than a minute ago, or not yet: a reading takes 20 ms");
    }
    List<Long> refused = known.values().stream().map(Known::bytes).filter(it -> it < 0).toList();
    if (!refused.isEmpty()) {
      gaps.add("%,d open files are unknown: %s".formatted(refused.size(), reason(refused.get(0))));
    }
    long residentOnly = known.values().stream().filter(Known::residentOnly).count();
    if (residentOnly > 0) {
      gaps.add(
          "%,d mapped files count as far as they are in the resident set: the kernel tells the cached pages of files only to those who may write them"
              .formatted(residentOnly));
    }
    if (known.size() >= MOST_FILES) {
      gaps.add("more than %,d files are open or mapped".formatted(MOST_FILES));
    }
    return String.join("; ", gaps);
  }

  private static String reason(long refusal) {
    return REFUSALS.getOrDefault(refusal, "the kernel refuses with error " + -refusal);
  }

  private PageCache toCache(String gaps, double seconds) {
    List<CachedFile> all = new ArrayList<>();
    Map<String, Long> kinds = new TreeMap<>();
    for (Map.Entry<String, Known> file : known.entrySet()) {
      boolean deleted = file.getKey().endsWith(DELETED);
      String path =
          deleted
              ? file.getKey().substring(0, file.getKey().length() - DELETED.length())
              : file.getKey();
      long bytes = file.getValue().bytes();
      if (bytes > 0) {
        all.add(new CachedFile(path, kind(path), bytes, deleted));
        kinds.merge(kind(path), bytes, Long::sum);
      }
    }
    all.sort(Comparator.comparingLong(CachedFile::cachedBytes).reversed());
    return new PageCache(
        all, all.stream().mapToLong(CachedFile::cachedBytes).sum(), kinds, seconds, gaps);
  }

  public static String kind(String path) {
    String name = path.toLowerCase(Locale.ROOT);
    if (LIBRARY.matcher(name).matches()) {
      return "library";
    }
    if (ARCHIVE.matcher(name).matches()) {
      return "archive";
    }
    if (SST.matcher(name).matches()) {
      return "sst";
    }
    if (INDEX.matcher(name).matches()) {
      return "index";
    }
    return LOG.matcher(name).matches() ? "log" : OTHER;
  }
}
