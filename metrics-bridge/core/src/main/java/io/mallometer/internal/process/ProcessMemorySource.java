package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.CallSites;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PageCache;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.ResidentStacks.ResidentStack;
import io.mallometer.model.Snapshot;
import io.mallometer.model.ThreadStacks;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Reads the memory of this process on Linux. Small files are read at most once a second. The
 * resident set is divided into parts (a "split") at most every 15 s. A split walks all page tables,
 * so splits become rarer if they would take more than a thousandth of one processor.
 */
final class ProcessMemorySource implements MemorySource {

  /**
   * The shortest time between two splits of the resident set: 15 s, Prometheus's usual interval.
   */
  static final long SHORTEST_SPLIT_NANOS = 15_000_000_000L;

  /**
   * The longest time between splits of the resident set into parts, even if they take more than a
   * thousandth of a processor.
   */
  static final long LONGEST_SPLIT_NANOS = 3_600_000_000_000L;

  static final long SHORTEST_READING_NANOS = 1_000_000_000L;

  private static final Path MEMINFO = Path.of("/proc/meminfo");

  private final ProcessFiles files;
  private final LongSupplier nanoTime;
  private final LongSupplier processorNanos;

  /** Parts of the names of mapped files of allocators other than glibc. */
  private static final List<String> OTHER_ALLOCATORS =
      List.of("libjemalloc", "libtcmalloc", "libmimalloc", "ld-musl");

  private static final String WITHOUT_FRAMES =
      "rules tell the JVM's kinds of memory, because libjvm has no symbols or its start was not"
          + " recorded";

  private final FileCache fileCache;
  private final MappedChunks.Searched searched = new MappedChunks.Searched();
  private ProcessMemory latest = ProcessMemory.unknown();
  private long nextReading = Long.MIN_VALUE;
  private long nextSplit = Long.MIN_VALUE;
  private long pause = SHORTEST_SPLIT_NANOS;
  private boolean renewed;
  private int splits;
  private Optional<CgroupDirectory> cgroup = Optional.empty();

  ProcessMemorySource(ProcessFiles files, LongSupplier nanoTime, LongSupplier processorNanos) {
    this.files = files;
    this.nanoTime = nanoTime;
    this.processorNanos = processorNanos;
    this.fileCache = FileCache.ofThisProcess(files, processorNanos);
  }

  @Override
  public boolean present() {
    return files.present();
  }

  @Override
  public ProcessMemory read(
      Supplier<Snapshot> counted, OptionalLong statedLimit, Supplier<List<MappedRange>> ranges) {
    long now = nanoTime.getAsLong();
    if (due(nextReading, now)) {
      nextReading = now + SHORTEST_READING_NANOS;
      StatusFile status = StatusFile.parse(files.own("status").orElse(""));
      Optional<CgroupMemory> charged = charged(status);
      boolean splitDue = renewed || due(nextSplit, now);
      long borrowed = nextSplit == Long.MIN_VALUE ? 0 : Math.max(0, nextSplit - now);
      renewed = false;
      if (splitDue) {
        // The time of the next split is set before the split, because the split may fail. A failed
        // split costs as much as a successful one, so it must not be repeated at once.
        nextSplit = now + borrowed + SHORTEST_SPLIT_NANOS;
      }
      String machine = files.text(MEMINFO).orElse("");
      ProcessMemory memory =
          new ProcessMemory(
              figure(status.residentBytes()),
              figure(status.fileBytes()),
              latest.resident(),
              charged,
              latest.budget(),
              figure(StatusFile.kilobytes("MemTotal:", machine)),
              figure(StatusFile.kilobytes("MemAvailable:", machine)),
              figure(statedLimit));
      boolean sameLimit = Double.compare(memory.setLimit().bytes(), latest.setLimit().bytes()) == 0;
      Optional<ResidentMemory> resident = splitDue ? split(counted, ranges) : latest.resident();
      if (splitDue) {
        pause = interval(costs(resident));
        nextSplit = now + borrowed + pause;
        splits++;
      }
      latest =
          splitDue || !sameLimit ? memory.with(resident, budget(status, resident, memory)) : memory;
    }
    return latest;
  }

  /**
   * Makes the next {@link #read} read all values anew, and split the resident set into parts if the
   * next split is due within two intervals ({@code pause}). The early split delays the next one by
   * an interval, so frequent requests do not cause more splits.
   */
  @Override
  public void renew() {
    nextReading = Long.MIN_VALUE;
    renewed = due(nextSplit, nanoTime.getAsLong()) || nextSplit - nanoTime.getAsLong() <= 2 * pause;
  }

  /**
   * Returns the resident set, counted from the page tables. The file {@code status} is the second
   * choice, because it lags behind by some megabytes on new kernels.
   */
  @Override
  public OptionalLong residentBytes() {
    OptionalLong walked = StatusFile.parse(files.own("smaps_rollup").orElse("")).residentBytes();
    return walked.isPresent()
        ? walked
        : StatusFile.parse(files.own("status").orElse("")).residentBytes();
  }

  static double figure(OptionalLong bytes) {
    return bytes.isPresent() ? bytes.getAsLong() : Double.NaN;
  }

  private static Optional<MemoryBudget> budget(
      StatusFile status, Optional<ResidentMemory> resident, ProcessMemory memory) {
    return resident.map(
        split -> BudgetTable.of(HotSpot.configuration(status.threads()), split, memory));
  }

  /**
   * Returns the cost of a split of the resident set in seconds of CPU time. The first two splits
   * count 0, because they load classes and name call sites, which later splits need not do.
   */
  private double costs(Optional<ResidentMemory> resident) {
    return splits > 1 && resident.isPresent() ? resident.get().costSeconds() : 0;
  }

  private static long interval(double costSeconds) {
    return Pause.after((long) (costSeconds * 1e9), SHORTEST_SPLIT_NANOS, LONGEST_SPLIT_NANOS);
  }

  private static boolean due(long next, long now) {
    return next == Long.MIN_VALUE || now - next >= 0;
  }

  /**
   * Reads the cgroup. If this fails, looks up its directory again, because the process may have
   * moved to another cgroup.
   */
  private Optional<CgroupMemory> charged(StatusFile status) {
    Optional<CgroupMemory> read = reading(status);
    if (read.isEmpty()) {
      cgroup =
          CgroupDirectory.find(files.own("cgroup").orElse(""), files.own("mountinfo").orElse(""));
      read = reading(status);
    }
    return read;
  }

  private Optional<CgroupMemory> reading(StatusFile status) {
    return cgroup.flatMap(
        directory -> CgroupReading.of(directory, files::text, status.anonymousBytes()));
  }

  private Optional<ResidentMemory> split(
      Supplier<Snapshot> counter, Supplier<List<MappedRange>> ranges) {
    long start = processorNanos.getAsLong();
    Optional<List<Mapping>> mappings = files.mappings();
    if (mappings.isEmpty()) {
      return Optional.empty();
    }
    JvmFacts jvm = HotSpot.facts();
    Snapshot counted = counter.get();
    // The first split of the resident set runs while the program starts, so it does not wait for
    // the names of call sites.
    List<MappedRange> named = splits > 0 ? ranges.get() : List.of();
    ResidentSplit split = divide(mappings.get(), jvm, counted, named);
    Optional<HugePages> huge = hugePages(split, mappings.get());
    ThreadStacks threads = ThreadPools.read(mappings.get());
    PageCache pageCache = fileCache.read(mappings.get(), nanoTime.getAsLong());
    return Optional.of(
        new ResidentMemory(
            counted.time(),
            residentBytes(mappings.get()),
            split.parts(),
            split.presumedBytes(),
            split.copiedFileBytes(),
            jvm.tracking().isPresent(),
            Piece.byFrames(named) ? ResidentMemory.BY_FRAMES : ResidentMemory.BY_RULES,
            mappings.get().size(),
            (processorNanos.getAsLong() - start) / 1e9,
            split.mallocBytes(),
            split.mappedFiles(),
            huge,
            threads,
            pageCache,
            named.isEmpty() ? Optional.empty() : Optional.of(split.mapped())));
  }

  private static Optional<HugePages> hugePages(ResidentSplit split, List<Mapping> mappings) {
    if (mappings.stream().noneMatch(mapping -> mapping.hugeBytes() >= 0)) {
      return Optional.empty();
    }
    long bytes = split.hugePages().stream().mapToLong(HugePages.Part::bytes).sum();
    return Optional.of(
        new HugePages(
            bytes,
            split.hugePages(),
            bytes == 0
                ? "The resident set has no transparent huge pages."
                : "%s of the resident set is in transparent huge pages (%s)."
                    .formatted(
                        HumanText.bytes(bytes),
                        HumanText.share((double) bytes / residentBytes(mappings)))));
  }

  private static long residentBytes(List<Mapping> mappings) {
    return mappings.stream().mapToLong(Mapping::residentBytes).sum();
  }

  private ResidentSplit divide(
      List<Mapping> mappings, JvmFacts jvm, Snapshot counted, List<MappedRange> ranges) {
    MallocFacts malloc = malloc(mappings, counted);
    try (AddressSpace memory = AddressSpace.ofThisProcess()) {
      return ResidentSplit.of(mappings, jvm, malloc, memory, searched, ranges);
    }
  }

  @Override
  public Optional<ResidentStacks> origins(
      Snapshot counted, List<MappedRange> ranges, CallSites sites) {
    Optional<List<Mapping>> mappings = files.mappingsOnce();
    if (mappings.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new ResidentStacks(
            counted.time(),
            residentBytes(mappings.get()),
            origins(mappings.get(), counted, ranges, sites),
            reason(counted.self().remark(), sites, ranges)));
  }

  /**
   * Returns why call sites of mappings or the kinds of the JVM's memory are unknown; empty if
   * nothing is unknown.
   */
  private static String reason(String remark, CallSites sites, List<MappedRange> ranges) {
    int begin = remark.indexOf("mappings are not recorded");
    if (begin >= 0) {
      return remark.substring(begin);
    }
    if (sites.sites().isEmpty() && !sites.reason().isEmpty()) {
      return sites.reason();
    }
    return Piece.byFrames(ranges) ? "" : WITHOUT_FRAMES;
  }

  private static List<ResidentStack> origins(
      List<Mapping> mappings, Snapshot counted, List<MappedRange> ranges, CallSites sites) {
    MallocFacts malloc = malloc(mappings, counted);
    boolean attached = sites.origin().attached();
    try (AddressSpace memory = AddressSpace.ofThisProcess()) {
      return ResidentSplit.origins(
          mappings, HotSpot.facts(), malloc, memory, ranges, sites.sites(), attached);
    }
  }

  private static MallocFacts malloc(List<Mapping> mappings, Snapshot counted) {
    Optional<NativeCounters> counters = counted.process();
    double live = counters.isPresent() ? counters.get().liveBytes() : Double.NaN;
    double footprint = counted.self().footprintBytes();
    double tables = counted.self().sampling().tableBytes();
    return new MallocFacts(
        Double.isNaN(live) ? OptionalLong.empty() : OptionalLong.of((long) live),
        Double.isNaN(footprint) ? 0 : (long) footprint,
        Double.isNaN(tables) ? 0 : (long) tables,
        counted.self().sampling().slots(),
        !hasOtherAllocator(mappings));
  }

  private static boolean hasOtherAllocator(List<Mapping> mappings) {
    String before = "";
    for (Mapping mapping : mappings) {
      String name = mapping.name();
      // A file has several mappings next to each other, so a repeated name was tested already.
      if (!name.equals(before) && isOtherAllocator(name)) {
        return true;
      }
      before = name;
    }
    return false;
  }

  private static boolean isOtherAllocator(String name) {
    return OTHER_ALLOCATORS.stream().anyMatch(name::contains);
  }
}
