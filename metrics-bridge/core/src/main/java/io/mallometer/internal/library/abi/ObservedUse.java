package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.Cleaning;
import io.mallometer.internal.leak.evidence.DurationSketch;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.internal.leak.evidence.WatchedAccess;
import io.mallometer.internal.text.SystemTime;
import io.mallometer.model.Observation;
import io.mallometer.model.StackFrame;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Reads what the library observed of accesses to objects. The library must be in the process. A
 * reading copies 56 bytes for each live sample and 624 bytes for each site, through buffers of a
 * bounded size. Thread-safe.
 */
final class ObservedUse {

  private static final int SITES_AT_ONCE = 128;
  private static final int MOST_SITES = 8_192;
  private static final int MOST_OBJECTS = 65_536;
  private static final int FEWEST_OBJECTS = 1_024;
  private static final int MOST_ACCESSES = 128;
  private static final int MOST_CLEANED = 4_096;
  private static final int OLD_COLLECTIONS = 3;

  /**
   * The most attempts at one reading of the samples. A reading is repeated if a collection of the
   * old generation began during the reading, because cleaners free sampled objects after a
   * collection.
   */
  private static final int READINGS = 3;

  /** The library's default time between two readings of the accessed bits, in milliseconds. */
  private static final long EPOCH_MILLIS = 5_000;

  private static final long EPOCH_OVER_COST = 1_000;
  private static final long FEWEST = 10;

  private static final double NANOS = 1e9;
  private static final long SMALLEST_SLOT_BYTES = 4 << 10;
  private static final int SLOT_FACTOR = 16;

  private final Abi.Observation observation =
      new Abi.Observation(Structs.keep(Abi.Observation.BYTES));
  private final Abi.CollectionCounts collections =
      new Abi.CollectionCounts(Structs.keep(Abi.CollectionCounts.BYTES));
  private final ByteBuffer cleaned = Structs.keep(MOST_CLEANED * Abi.Cleaned.BYTES);
  private final ByteBuffer sites = Structs.keep(SITES_AT_ONCE * Abi.SiteEvidence.BYTES);
  private ByteBuffer objects = Structs.keep(FEWEST_OBJECTS * Abi.Object.BYTES);

  private final ObservationStart start =
      new ObservationStart(
          new IntSupplier() {
            @Override
            public int getAsInt() {
              return LibraryFunctions.mallometer_leaks_start();
            }
          },
          new IntSupplier() {
            @Override
            public int getAsInt() {
              return LibraryFunctions.mallometer_leaks_stop();
            }
          },
          SystemTime.NANOS);

  synchronized void start(Duration shortestEpoch) {
    long shortest = Math.max(FEWEST, shortestEpoch.toMillis());
    LibraryFunctions.mallometer_configure(Abi.OPTION_SHORTEST_EPOCH, shortest);
    // An epoch lasts at least EPOCH_OVER_COST times the CPU time of a reading of the accessed bits.
    // This factor is reduced in proportion if the caller wants epochs shorter than EPOCH_MILLIS.
    LibraryFunctions.mallometer_configure(
        Abi.OPTION_EPOCH_OVER_COST,
        Math.max(FEWEST, Math.min(EPOCH_OVER_COST, EPOCH_OVER_COST * shortest / EPOCH_MILLIS)));
    start.ask();
  }

  synchronized void stop() {
    start.takeBack();
  }

  /**
   * Reads the evidence: the live sampled objects, the observed use of each call site's objects, the
   * exact counters, and the garbage collections.
   *
   * @param counters reads the exact counters; called before the objects are read
   */
  synchronized Evidence read(Supplier<Evidence.Counted> counters) {
    start.askAgainIfDue();
    int result = readObservation();
    long now = System.nanoTime();
    Evidence.Counted counted = counters.get();
    Cleaning cleaning = readCleaning();
    List<SampledObject> live = readObjects();
    for (int i = 1; i < READINGS && isOutdated(cleaning); i++) {
      cleaning = readCleaning();
      live = readObjects();
    }
    String refusal = result == 0 ? start.refusal() : refusal(result);
    return !refusal.isEmpty()
        ? new Evidence(
            now, Evidence.none(now, refusal).observation(), live, Map.of(), counted, cleaning)
        : new Evidence(now, observation(), live, readSites(), counted, cleaning);
  }

  private Cleaning readCleaning() {
    long rows = Structs.address(cleaned);
    int count =
        LibraryFunctions.mallometer_collections(
            Structs.address(collections.memory()), rows, MOST_CLEANED);
    if (count < 0) {
      String reason = collections.reason();
      return Cleaning.none(reason.isEmpty() ? "call sites are not recorded" : reason);
    }
    Map<Integer, Cleaning.Cleaned> bySite = new HashMap<>();
    for (int i = 0; i < count; i++) {
      Abi.Cleaned row = Abi.Cleaned.row(cleaned, i);
      bySite.put(
          row.site(),
          new Cleaning.Cleaned(
              Integer.toUnsignedLong(row.samples()),
              Integer.toUnsignedLong(row.afterFirstYoung()),
              List.of(outlived(row.old(0)), outlived(row.old(1)))));
    }
    List<Long> began = new ArrayList<>();
    for (int i = 0; i < OLD_COLLECTIONS; i++) {
      began.add(collections.oldBeganNs(i));
    }
    return new Cleaning(
        collections.old(),
        collections.young() + collections.old(),
        began,
        collections.generationalZgc() == 1,
        collections.marksFirst() == 1,
        "",
        bySite);
  }

  private static Cleaning.Outlived outlived(Abi.Outlived row) {
    return new Cleaning.Outlived(
        Integer.toUnsignedLong(row.atOnce()),
        Integer.toUnsignedLong(row.otherwise()),
        Integer.toUnsignedLong(row.again()),
        row.firstBytes(),
        row.againBytes(),
        row.otherwiseBytes());
  }

  private boolean isOutdated(Cleaning cleaning) {
    return cleaning.reason().isEmpty()
        && LibraryFunctions.mallometer_collections(Structs.address(collections.memory()), 0, 0) >= 0
        && collections.old() != cleaning.oldCollections();
  }

  private int readObservation() {
    return LibraryFunctions.mallometer_leaks(Structs.address(observation.memory()));
  }

  private String refusal(int result) {
    String refusal = start.refusal();
    return refusal.isEmpty() ? "the observation cannot be read: errno " + -result : refusal;
  }

  private List<SampledObject> readObjects() {
    int count = copyObjects();
    while (count == capacity() && count < MOST_OBJECTS) {
      int more = Math.min(MOST_OBJECTS, 4 * count);
      objects = Structs.keepInstead(objects, more * Abi.Object.BYTES);
      count = copyObjects();
    }
    List<SampledObject> live = new ArrayList<>(Math.max(0, count));
    for (int i = 0; i < count; i++) {
      SampledObject object = object(Abi.Object.row(objects, i));
      if (object.probability() > 0) {
        live.add(object);
      }
    }
    return live;
  }

  private int copyObjects() {
    return LibraryFunctions.mallometer_objects(Structs.address(objects), capacity());
  }

  private int capacity() {
    return objects.capacity() / Abi.Object.BYTES;
  }

  private Map<Integer, SiteUse> readSites() {
    Map<Integer, SiteUse> known = new HashMap<>();
    int count = SITES_AT_ONCE;
    for (int first = 0; count == SITES_AT_ONCE && first < MOST_SITES; first += count) {
      count = LibraryFunctions.mallometer_evidence(Structs.address(sites), SITES_AT_ONCE, first);
      for (int i = 0; i < count; i++) {
        Abi.SiteEvidence row = Abi.SiteEvidence.row(sites, i);
        SiteUse use = use(row);
        SiteUse before = known.put(row.site(), use);
        if (before != null) {
          known.put(row.site(), before.plus(use));
        }
      }
    }
    return known;
  }

  private Observation observation() {
    boolean canWatch = observation.canWatch() == 1;
    String watchReason = observation.watchReason();
    return new Observation(
        state(observation.state()),
        observation.reason(),
        new Observation.Period(
            method(observation.method()),
            observation.startedNs(),
            observation.epochEndNs(),
            observation.epochNs() / NANOS,
            observation.epochs(),
            observation.voidEpochs(),
            observation.cpuNs() / NANOS),
        new Observation.Space(
            observation.arenaBytes(), observation.residentBytes(), observation.limitBytes()),
        slots(),
        new Observation.Placement(
            observation.placed(), observation.notPlaced(), observation.tooLarge()),
        canWatch
            ? ""
            : watchReason.isEmpty() ? "watchpoints do not work on this system" : watchReason,
        "");
  }

  private static Observation.State state(int number) {
    return switch (number) {
      case Abi.LEAKS_OFF -> Observation.State.OFF;
      case Abi.LEAKS_STARTING -> Observation.State.STARTING;
      case Abi.LEAKS_ON -> Observation.State.ON;
      default -> Observation.State.FAILED;
    };
  }

  private static String method(int number) {
    return switch (number) {
      case Abi.LEAKS_BY_COLD -> "cold";
      case Abi.LEAKS_BY_CLEAR_REFS -> "clear_refs";
      default -> "";
    };
  }

  private List<Observation.Slots> slots() {
    List<Observation.Slots> slots = new ArrayList<>(Abi.SLOT_CLASSES);
    long bytes = SMALLEST_SLOT_BYTES;
    for (int i = 0; i < Abi.SLOT_CLASSES; i++) {
      slots.add(new Observation.Slots(bytes, observation.slots(i), observation.slotsInUse(i)));
      bytes *= SLOT_FACTOR;
    }
    return slots;
  }

  private static SampledObject object(Abi.Object row) {
    return new SampledObject(
        row.site(),
        row.bytes(),
        row.probability(),
        row.placement(),
        row.bornNs(),
        row.lastAccessNs(),
        Integer.toUnsignedLong(row.oldCollections()),
        Integer.toUnsignedLong(row.collections()));
  }

  private static SiteUse use(Abi.SiteEvidence row) {
    return new SiteUse(
        row.placed(),
        row.freed(),
        durations(row.lifetimes()),
        durations(row.idleBeforeFree()),
        durations(row.gaps()));
  }

  private static DurationSketch durations(Abi.Durations row) {
    if (row.count() == 0) {
      return DurationSketch.NONE;
    }
    float[] weights = new float[Abi.DURATION_BUCKETS];
    for (int i = 0; i < weights.length; i++) {
      float weight = row.weight(i);
      weights[i] = weight > 0 && weight < Float.POSITIVE_INFINITY ? weight : 0;
    }
    return new DurationSketch(row.count(), weights);
  }

  // ---- Watchpoints

  /**
   * Watches accesses to the objects of some call sites. Returns why they cannot be watched; empty
   * if they are watched.
   */
  synchronized String watch(List<Integer> numbers) {
    int result =
        Structs.with(
            numbers.size() * Integer.BYTES,
            wanted -> {
              numbers.forEach(wanted::putInt);
              return LibraryFunctions.mallometer_watch(Structs.address(wanted), numbers.size());
            });
    return result == 0 ? "" : reasonNotToWatch(result);
  }

  private String reasonNotToWatch(int result) {
    boolean known = readObservation() == 0;
    String reason = known ? observation().watchReason() : "";
    return reason.isEmpty() ? "watchpoints cannot be set: errno " + -result : reason;
  }

  synchronized List<WatchedAccess> seen(Function<long[], List<StackFrame>> naming) {
    return Structs.with(MOST_ACCESSES * Abi.Access.BYTES, accesses -> seen(accesses, naming));
  }

  private static List<WatchedAccess> seen(
      ByteBuffer accesses, Function<long[], List<StackFrame>> naming) {
    int count = LibraryFunctions.mallometer_accesses(Structs.address(accesses), MOST_ACCESSES);
    List<WatchedAccess> seen = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Abi.Access access = Abi.Access.row(accesses, i);
      seen.add(
          new WatchedAccess(
              access.site(),
              access.kind() == Abi.WRITE,
              access.monotonicNs(),
              access.threadName(),
              naming.apply(stack(access))));
    }
    return seen;
  }

  private static long[] stack(Abi.Access access) {
    long[] stack = new long[Math.min(Abi.ACCESS_FRAMES, Math.max(0, access.frames()))];
    for (int i = 0; i < stack.length; i++) {
      stack[i] = access.stack(i);
    }
    return stack;
  }
}
