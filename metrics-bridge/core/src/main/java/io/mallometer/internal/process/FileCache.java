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
 * Reads the cached pages of the files that this process has open or mapped: of open files by
 * cachestat, of others by mincore, and where the kernel tells neither, the resident pages of their
 * mappings. No file is opened, and nothing waits for a disk or a network.
 *
 * <p>A reading ends when it has taken 20 ms of processor time; the next one, a minute later,
 * continues with the files that were read longest ago.
 */
final class FileCache {

  static final long PACE_NANOS = 60_000_000_000L;
  static final long BUDGET_NANOS = 20_000_000L;

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private static final String DELETED = " (deleted)";
  private static final int MOST_FILES = 10_000;

  /** The kernel's files, devices and anonymous memory with a name. */
  private static final Pattern NO_FILE =
      Pattern.compile("/(?:proc|sys|dev)/.*|/memfd:.*|/SYSV.*|//anon.*|/\\[.*|[^/].*");

  private static final Pattern LIBRARY = Pattern.compile(".*\\.so(?:\\.[\\d.]+)?");
  private static final Pattern ARCHIVE =
      Pattern.compile(".*(?:\\.(?:jar|war|zip|jmod|jsa)|/modules)");
  private static final Pattern SST = Pattern.compile(".*\\.(?:sst|ldb)");
  private static final Pattern LOG = Pattern.compile(".*\\.(?:log|out|gc)(?:\\.\\d+)?");

  /** Files of Lucene's and Kafka's indexes. */
  private static final Pattern INDEX =
      Pattern.compile(
          ".*\\.(?:index|timeindex|cfs|cfe|fdt|fdx|fdm|tim|tip|tmd|doc|pos|pay|dvd|dvm|nvd|nvm"
              + "|kdd|kdi|kdm|vec|vex|si)");

  /** A file that is open or mapped. The descriptor is negative for a file that is only mapped. */
  record UsedFile(int descriptor, List<Mapping> mappings) {}

  /** Asks the kernel: the descriptor, or the begin and length of a mapping. */
  interface Kernel {
    long cached(int descriptor, long begin, long bytes);
  }

  private final Kernel kernel;
  private final LongSupplier processorNanos;

  /** The cached bytes by path, those that were read longest ago first. */
  private final Map<String, Long> known = new LinkedHashMap<>();

  private PageCache latest = PageCache.NONE;
  private long readAt;
  private boolean everRead;

  FileCache(Kernel kernel, LongSupplier processorNanos) {
    this.kernel = kernel;
    this.processorNanos = processorNanos;
  }

  /** Creates a reader of this process. */
  static FileCache ofThisProcess(LongSupplier processorNanos) {
    return new FileCache(DirectCalls::cachedBytes, processorNanos);
  }

  /** Reads the files if the latest reading is a minute old, and returns the latest result. */
  PageCache read(List<Mapping> mappings, long now) {
    if (!everRead || now - readAt >= PACE_NANOS) {
      everRead = true;
      readAt = now;
      long start = processorNanos.getAsLong();
      latest = measure(usedFiles(mappings), start);
    }
    return latest;
  }

  private static Map<String, UsedFile> usedFiles(List<Mapping> mappings) {
    Map<String, UsedFile> files = new LinkedHashMap<>();
    String[] descriptors = DESCRIPTORS.toFile().list();
    for (String descriptor : descriptors == null ? new String[0] : descriptors) {
      try {
        String path = Files.readSymbolicLink(DESCRIPTORS.resolve(descriptor)).toString();
        if (files.size() < MOST_FILES && !NO_FILE.matcher(path).matches()) {
          files.putIfAbsent(path, new UsedFile(Integer.parseInt(descriptor), new ArrayList<>()));
        }
      } catch (IOException | SecurityException | NumberFormatException e) {
        // The descriptor was closed meanwhile.
      }
    }
    for (Mapping mapping : mappings) {
      if (!mapping.anonymous() && !NO_FILE.matcher(mapping.name()).matches()) {
        files
            .computeIfAbsent(mapping.name(), path -> new UsedFile(-1, new ArrayList<>()))
            .mappings()
            .add(mapping);
      }
    }
    return files;
  }

  /** Measures files until the budget is spent: new ones first, then those read longest ago. */
  PageCache measure(Map<String, UsedFile> files, long start) {
    known.keySet().retainAll(files.keySet());
    List<String> order = new ArrayList<>(files.keySet());
    order.removeAll(known.keySet());
    order.addAll(known.keySet());
    String gaps = "";
    for (String path : order) {
      if (processorNanos.getAsLong() - start >= BUDGET_NANOS) {
        gaps = "some files were read more than a minute ago, or not yet: a reading takes 20 ms";
        break;
      }
      known.remove(path);
      known.put(path, cachedBytes(files.get(path)));
    }
    return toCache(gaps, (processorNanos.getAsLong() - start) / 1e9);
  }

  private long cachedBytes(UsedFile file) {
    long bytes = file.descriptor() < 0 ? -1 : kernel.cached(file.descriptor(), 0, 0);
    if (bytes >= 0) {
      return bytes;
    }
    long sum = 0;
    for (Mapping mapping : file.mappings()) {
      long cached = kernel.cached(-1, mapping.start(), mapping.bytes());
      sum += Math.max(cached, mapping.residentBytes() - mapping.copiedBytes());
    }
    return sum;
  }

  private PageCache toCache(String gaps, double seconds) {
    List<CachedFile> all = new ArrayList<>();
    Map<String, Long> kinds = new TreeMap<>();
    for (Map.Entry<String, Long> file : known.entrySet()) {
      boolean deleted = file.getKey().endsWith(DELETED);
      String path =
          deleted
              ? file.getKey().substring(0, file.getKey().length() - DELETED.length())
              : file.getKey();
      if (file.getValue() > 0) {
        all.add(new CachedFile(path, kind(path), file.getValue(), deleted));
        kinds.merge(kind(path), file.getValue(), Long::sum);
      }
    }
    all.sort(Comparator.comparingLong(CachedFile::cachedBytes).reversed());
    return new PageCache(
        all.subList(0, Math.min(all.size(), PageCache.MOST_CACHED)),
        all.stream().mapToLong(CachedFile::cachedBytes).sum(),
        kinds,
        seconds,
        gaps);
  }

  /** Returns what a file is, by its name. */
  static String kind(String path) {
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
    return LOG.matcher(name).matches() ? "log" : "other";
  }
}
