package io.mallometer.internal.library.abi;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.ProcFiles;
import io.mallometer.internal.symbol.MappedModules;
import io.mallometer.internal.symbol.ModuleImages;
import io.mallometer.internal.symbol.RecordedModule;
import io.mallometer.internal.symbol.SiteNaming;
import io.mallometer.internal.symbol.Symbolizer;
import io.mallometer.internal.text.SystemTime;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.StackFrame;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The call sites that the library records, with names. Thread-safe. Only for a library that counts.
 *
 * <p>A site's stack never changes, so it is read and named once; later readings only copy the
 * site's sums, in about a microsecond. Names of methods are requested between readings, before
 * their classes may be unloaded.
 */
final class RecordedCallSites {

  private static final String NOT_RECORDED = "call sites are not recorded";

  private static final String SWITCHED_OFF =
      NOT_RECORDED
          + ": MALLOMETER_STACKS is off or large, or MALLOMETER_SAMPLE_INTERVAL is 0."
          + " Start without these variables to record them";

  private static final int SITES_AT_ONCE = 512;
  private static final int MODULES_AT_ONCE = 16;
  private static final int RANGES_AT_ONCE = 512;

  /**
   * The most attempts to read the mapped ranges. An attempt fails if another thread changes the
   * ranges meanwhile.
   */
  private static final int MOST_RETRIES = 100;

  private static final int MOST_OBJECTS = 65_536;

  /**
   * The largest number of methods whose names one call of {@link #nameMethods} requests. Requesting
   * them takes some 60 ms. The library's table has room for 16,384 methods.
   */
  private static final int METHODS_AT_ONCE = 4_096;

  /**
   * The largest number of new sites to which one call of {@link #read} gives names, unless it must
   * name all sites. The sites with the most live bytes get names.
   */
  private static final int NAMED_AT_ONCE = 256;

  /**
   * The largest number of sites that one call of {@link #nameMethods} names. Only each fifth call
   * names sites. With one call a second, all sites of the library's table are named in about two
   * minutes.
   */
  private static final int NAMED_IN_BETWEEN = 640;

  private static final int CALLS_IN_BETWEEN = 5;

  private static final Comparator<CallSite> MOST_LIVE_FIRST =
      new Comparator<>() {
        @Override
        public int compare(CallSite one, CallSite other) {
          int byBytes = Double.compare(other.liveBytes().value(), one.liveBytes().value());
          return byBytes != 0 ? byBytes : Integer.compare(one.number(), other.number());
        }
      };

  /** The largest number of frames of a stack: 128 native ones and 512 of Java. */
  private static final int MOST_FRAMES = 640;

  private final ByteBuffer sites = Structs.keep(NAMED_IN_BETWEEN * Abi.Site.BYTES);
  private final ByteBuffer frames = Structs.keep(MOST_FRAMES * Long.BYTES);
  private final ByteBuffer moduleRows = Structs.keep(MODULES_AT_ONCE * Abi.Module.BYTES);
  private final Abi.Method method = new Abi.Method(Structs.keep(Abi.Method.BYTES));
  private final long methodAddress = Structs.address(method.memory());
  private ByteBuffer objects = Structs.keep(Abi.Object.BYTES);

  private final LoadedModules modules =
      new LoadedModules(
          new Supplier<List<RecordedModule>>() {
            @Override
            public List<RecordedModule> get() {
              Optional<String> maps = ProcFiles.mappedFiles();
              return maps.isPresent()
                  ? MappedModules.in(maps.get(), ModuleImages.ofThisProcess())
                  : List.of();
            }
          },
          SystemTime.NANOS);
  private final JavaMethods methods =
      new JavaMethods(
          method,
          new IntUnaryOperator() {
            @Override
            public int applyAsInt(int number) {
              return LibraryFunctions.mallometer_method_name(number, methodAddress);
            }
          });

  /**
   * Null until the first stack, as is {@link #naming}, because creating a symbolizer would delay
   * the start of a program.
   */
  private @Nullable Symbolizer symbolizer;

  private final ResidentShares resident = new ResidentShares(PageTable.OF_THIS_PROCESS);

  private final NamedSites named = new NamedSites();

  /**
   * The number of sites that {@link #nameMethods} has gone through, in the library's order; -1
   * before the first reading.
   */
  private int namedUpTo = -1;

  private int callsInBetween;

  /**
   * Whether all sites had names at some earlier time. If so, each call of {@link #read} names all
   * new sites, because they are few.
   */
  private boolean allNamed;

  private final Set<Integer> toBeNamedAgain = new HashSet<>();

  private Map<String, String> buildIds = Map.of();

  /** The value of {@link LoadedModules#changes} when the build ids were read; -1 before. */
  private int buildIdsOf = -1;

  private List<String> namedBy = List.of();
  private @Nullable SiteNaming naming;

  private int attached = Errno.EBUSY;

  /**
   * Attaches the library to the JVM, so that stacks get Java frames, and names new methods. At each
   * fifth call, also names some sites, until all have names. Must be called by a thread of the JVM.
   */
  synchronized void nameMethods() {
    attach();
    methods.askForNewNames(METHODS_AT_ONCE);
    if (namedUpTo >= 0 && !allNamed && ++callsInBetween % CALLS_IN_BETWEEN == 0) {
      int count = readSites(namedUpTo, NAMED_IN_BETWEEN);
      nameNew(count, 0);
      namedUpTo += Math.max(0, count);
      allNamed = count < NAMED_IN_BETWEEN;
    }
  }

  private void attach() {
    // A later attempt may succeed: the sampler may be switched on later, and an agent may start
    // before the library can find the JVM.
    if (attached == Errno.EBUSY || attached == Errno.ENODATA || attached == Errno.ESRCH) {
      attached = LibraryFunctions.mallometer_jvm_attach();
    }
  }

  /**
   * Reads all sites.
   *
   * @param report the library's report of this moment
   * @param whole whether all sites must have names, which can take seconds of CPU time
   */
  synchronized CallSites read(
      Instant time, List<String> applicationPackages, Report report, boolean whole) {
    attach();
    methods.askForNewNames();
    if (attached == Errno.ENODATA) {
      return CallSites.none(time, whyNotRecorded(report.reason()));
    }
    if (!applicationPackages.equals(namedBy)) {
      namedBy = List.copyOf(applicationPackages);
      naming = null;
      named.nameBy(naming());
    }
    for (int number : toBeNamedAgain) {
      named.remove(number);
    }
    toBeNamedAgain.clear();
    SampledAges ages = ages(report.liveSamples());
    List<CallSite> read = new ArrayList<>();
    double least = whole || allNamed ? 0 : leastNamed();
    allNamed |= whole;
    namedUpTo = Math.max(0, namedUpTo);
    for (int first = 0, count = SITES_AT_ONCE; count == SITES_AT_ONCE; first += count) {
      count = readSites(first, SITES_AT_ONCE);
      nameNew(count, least);
      for (int i = 0; i < count; i++) {
        addSite(Abi.Site.row(sites, i), ages, report, read);
      }
    }
    read.sort(MOST_LIVE_FIRST);
    return new CallSites(
            time, read, report.samples(), report.dropped(), report.byteUnit(), reason())
        .withBuildIds(whole || buildIdsOf >= 0 ? buildIds() : Map.of());
  }

  private Map<String, String> buildIds() {
    int now = modules.changes();
    if (now != buildIdsOf) {
      buildIds = symbolizer().buildIds(modules.all());
      buildIdsOf = now;
    }
    return buildIds;
  }

  record Report(
      NativeCounters counted,
      double intervalBytes,
      long samples,
      int liveSamples,
      Map<String, Long> dropped,
      ByteUnit byteUnit,
      String reason) {}

  /**
   * Returns why call sites are not recorded. If the library gives no reason, they are switched off.
   */
  static String whyNotRecorded(String reasonOfLibrary) {
    int begin = reasonOfLibrary.indexOf(NOT_RECORDED);
    return begin < 0 ? SWITCHED_OFF : reasonOfLibrary.substring(begin);
  }

  private String reason() {
    return switch (attached) {
      case 0 ->
          methods.noneHasName()
              ? "Java frames have no names: mallometer cannot read those of a JVM of version "
                  + Runtime.version().feature()
                  + ". Use a newer mallometer"
              : "";
      case Errno.EPERM -> "no Java frames: MALLOMETER_STACKS=native";
      case Errno.ESRCH -> "no Java frames: the JVM was not found";
      case Errno.ENOTSUP -> "no Java frames: this JVM has no AsyncGetCallTrace, or refuses JVMTI";
      case Errno.EBUSY -> "no Java frames yet";
      default -> "no Java frames: attaching to the JVM failed with errno " + -attached;
    };
  }

  private void addSite(Abi.Site site, SampledAges ages, Report report, List<CallSite> read) {
    SiteEstimates estimates = new SiteEstimates(site, report.intervalBytes());
    NativeCounters counted = report.counted();
    long samples = estimates.samples();
    int number = site.number();
    if (samples == 0) {
      return;
    }
    boolean isNamed = named.contains(number);
    Estimate live = estimates.liveBytes().atMost(counted.liveBytes());
    read.add(
        new CallSite(
            number,
            isNamed ? named.frames(number) : List.of(),
            isNamed ? named.name(number) : naming().name(List.of()),
            isNamed ? named.library(number) : "",
            samples,
            estimates.allocatedObjects(),
            estimates.allocatedBytes().atMost(counted.allocatedBytes()),
            estimates.liveObjects().atMost(counted.liveObjects()),
            live,
            live.value() > 0 ? live.share(resident.share(number)) : live,
            Double.NaN,
            Double.NaN,
            ages.at(number)));
  }

  // ---- Names

  private int readSites(int first, int most) {
    return LibraryFunctions.mallometer_sites(Structs.address(sites), most, first);
  }

  private double leastNamed() {
    double[] unnamed = new double[SITES_AT_ONCE];
    int found = 0;
    for (int first = 0, count = SITES_AT_ONCE; count == SITES_AT_ONCE; first += count) {
      count = readSites(first, SITES_AT_ONCE);
      for (int i = 0; i < count; i++) {
        Abi.Site site = Abi.Site.row(sites, i);
        if (!named.contains(site.number())) {
          unnamed = found == unnamed.length ? Arrays.copyOf(unnamed, 2 * found) : unnamed;
          unnamed[found++] = SiteEstimates.liveBytes(site);
        }
      }
    }
    Arrays.sort(unnamed, 0, found);
    return found <= NAMED_AT_ONCE ? 0 : Math.nextUp(unnamed[found - NAMED_AT_ONCE]);
  }

  private void nameNew(int count, double least) {
    List<Integer> numbers = new ArrayList<>();
    List<long[]> stacks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Abi.Site site = Abi.Site.row(sites, i);
      int number = site.number();
      if (site.allocated().samples() > 0
          && !named.contains(number)
          && (least == 0 || SiteEstimates.liveBytes(site) >= least)) {
        numbers.add(number);
        stacks.add(stack(number));
      }
    }
    if (numbers.isEmpty()) {
      return;
    }
    nameAll(numbers, stacks);
  }

  private void nameAll(List<Integer> numbers, List<long[]> stacks) {
    // Modules are read after the stacks, so that they include every module in these stacks.
    boolean complete = addNewModules();
    List<List<StackFrame>> frames = symbolized(stacks);
    for (int i = 0; i < frames.size(); i++) {
      named.put(numbers.get(i), frames.get(i), naming());
      if (!complete || !methods.askedForAllOf(stacks.get(i))) {
        toBeNamedAgain.add(numbers.get(i));
      }
    }
  }

  private long[] stack(int number) {
    int count =
        LibraryFunctions.mallometer_site_stack(number, Structs.address(frames), MOST_FRAMES);
    long[] stack = new long[Math.max(0, count)];
    frames.asLongBuffer().get(stack);
    return stack;
  }

  synchronized List<MappedRange> ranges() {
    attach();
    List<RangeOfSite> read =
        Structs.with(RANGES_AT_ONCE * Abi.Range.BYTES, RecordedCallSites::readRanges);
    if (nameSitesOf(read)) {
      // Naming the sites has mapped memory, so the ranges have changed.
      read = Structs.with(RANGES_AT_ONCE * Abi.Range.BYTES, RecordedCallSites::readRanges);
      nameSitesOf(read);
    }
    List<MappedRange> ranges = new ArrayList<>(read.size());
    for (RangeOfSite range : read) {
      boolean isNamed = named.contains(range.site());
      ranges.add(
          new MappedRange(
              range.start(),
              range.end(),
              isNamed ? named.frames(range.site()) : List.of(),
              isNamed ? named.name(range.site()) : "",
              range.owner()));
    }
    return ranges;
  }

  /**
   * Names the call sites in {@code ranges} that are not named yet. Returns whether there were any.
   */
  private boolean nameSitesOf(List<RangeOfSite> ranges) {
    Map<Integer, long[]> unnamed = new LinkedHashMap<>();
    for (RangeOfSite range : ranges) {
      if (range.site() != Abi.NONE && !named.contains(range.site())) {
        unnamed.computeIfAbsent(range.site(), this::stack);
      }
    }
    if (!unnamed.isEmpty()) {
      nameAll(List.copyOf(unnamed.keySet()), List.copyOf(unnamed.values()));
    }
    return !unnamed.isEmpty();
  }

  private record RangeOfSite(long start, long end, int site, MappedRange.Owner owner) {}

  private static List<RangeOfSite> readRanges(ByteBuffer rows) {
    List<RangeOfSite> read = new ArrayList<>();
    long from = 0;
    int retries = 0;
    int count;
    do {
      count = LibraryFunctions.mallometer_ranges(Structs.address(rows), RANGES_AT_ONCE, from);
      for (int i = 0; i < count; i++) {
        Abi.Range row = Abi.Range.row(rows, i);
        from = row.address() + row.length();
        read.add(new RangeOfSite(row.address(), from, row.site(), owner(row.owner())));
      }
    } while (count > 0 || (count == Errno.EAGAIN && ++retries < MOST_RETRIES));
    return read;
  }

  private static MappedRange.Owner owner(int number) {
    return switch (number) {
      case Abi.RANGE_OF_ALLOCATOR -> MappedRange.Owner.ALLOCATOR;
      case Abi.RANGE_OF_LIBRARY -> MappedRange.Owner.LIBRARY;
      default -> MappedRange.Owner.PROGRAM;
    };
  }

  synchronized List<StackFrame> frames(long[] stack) {
    addNewModules();
    return symbolized(List.of(stack)).get(0);
  }

  private List<List<StackFrame>> symbolized(List<long[]> stacks) {
    methods.askForNewNames();
    List<long[]> known = new ArrayList<>(stacks.size());
    for (long[] stack : stacks) {
      known.add(modules.withoutGeneratedCode(stack));
    }
    return symbolizer().frames(known);
  }

  private Symbolizer symbolizer() {
    Symbolizer made = symbolizer;
    if (made == null) {
      made = new Symbolizer(modules, methods::of, ModuleImages.ofThisProcess());
      symbolizer = made;
    }
    return made;
  }

  private SiteNaming naming() {
    SiteNaming made = naming;
    if (made == null) {
      made = new SiteNaming(namedBy);
      naming = made;
    }
    return made;
  }

  /**
   * Adds new modules. Returns false if the library is still writing a module; names must then be
   * looked up again at the next reading.
   */
  private boolean addNewModules() {
    boolean complete = true;
    int count = MODULES_AT_ONCE;
    while (count == MODULES_AT_ONCE) {
      count =
          LibraryFunctions.mallometer_modules(
              Structs.address(moduleRows), MODULES_AT_ONCE, modules.count());
      List<RecordedModule> added = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        RecordedModule module = module(Abi.Module.row(moduleRows, i));
        if (module.begin() == 0) {
          count = 0;
          complete = false;
        } else {
          added.add(module);
        }
      }
      modules.add(added);
    }
    return complete;
  }

  private static RecordedModule module(Abi.Module row) {
    byte[] id = new byte[Math.min(32, Math.max(0, row.buildIdBytes()))];
    for (int i = 0; i < id.length; i++) {
      id[i] = row.buildId(i);
    }
    return new RecordedModule(
        row.begin(), row.end(), row.bias(), row.path(), HexFormat.of().formatHex(id));
  }

  // ---- Ages

  private SampledAges ages(int liveSamples) {
    if (liveSamples == 0) {
      resident.read(objects, 0);
      return SampledAges.of(objects, 0, 0);
    }
    int capacity = Math.min(MOST_OBJECTS, liveSamples + liveSamples / 4 + 64);
    if (objects.capacity() < capacity * Abi.Object.BYTES) {
      objects = Structs.keepInstead(objects, capacity * Abi.Object.BYTES);
    }
    int count =
        LibraryFunctions.mallometer_objects(
            Structs.address(objects), objects.capacity() / Abi.Object.BYTES);
    resident.read(objects, Math.max(0, count));
    return SampledAges.of(objects, Math.max(0, count), System.nanoTime());
  }
}
