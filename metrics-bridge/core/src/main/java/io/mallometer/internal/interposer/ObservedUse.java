package io.mallometer.internal.interposer;

import io.mallometer.internal.text.SystemTime;
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
 * What the library observes of the use of objects.
 *
 * <p>A reading copies the live samples, 48 bytes each, and what is known of sites, 624 bytes each,
 * through buffers of a bounded size. Thread-safe. Only for a library that is there.
 */
final class ObservedUse {

  private static final int SITES_AT_ONCE = 128;
  private static final int MOST_SITES = 8_192;
  private static final int MOST_OBJECTS = 65_536;
  private static final int FEWEST_OBJECTS = 1_024;
  private static final int MOST_ACCESSES = 128;

  /** The library's defaults, and the least that it takes for either. */
  private static final long EPOCH_MILLIS = 5_000;

  private static final long EPOCH_OVER_COST = 1_000;
  private static final long FEWEST = 10;

  private final ByteBuffer observation = Structs.keep(LeakLayout.BYTES);
  private final ByteBuffer sites = Structs.keep(SITES_AT_ONCE * LeakLayout.SITE_BYTES);
  private ByteBuffer objects = Structs.keep(FEWEST_OBJECTS * SiteLayout.OBJECT_BYTES);

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

  /** Asks the library to observe. */
  synchronized void start(Duration shortestEpoch) {
    long shortest = Math.max(FEWEST, shortestEpoch.toMillis());
    LibraryFunctions.mallometer_configure(LeakLayout.OPTION_SHORTEST_EPOCH, shortest);
    // Where time runs faster, a thousandth of it is less than reading takes.
    LibraryFunctions.mallometer_configure(
        LeakLayout.OPTION_EPOCH_OVER_COST,
        Math.max(FEWEST, Math.min(EPOCH_OVER_COST, EPOCH_OVER_COST * shortest / EPOCH_MILLIS)));
    start.ask();
  }

  /** Takes that back. */
  synchronized void stop() {
    start.takeBack();
  }

  /**
   * Reads everything.
   *
   * @param counters reads the exact counters: before the objects, which takes microseconds
   */
  synchronized Evidence read(Supplier<Evidence.Counted> counters) {
    start.askAgainIfDue();
    observation.putInt(LeakLayout.SIZE, LeakLayout.BYTES);
    int result = LibraryFunctions.mallometer_leaks(Structs.address(observation));
    long now = System.nanoTime();
    Evidence.Counted counted = counters.get();
    List<SampledObject> live = readObjects();
    String refusal = result == 0 ? start.refusal() : refusal(result);
    return !refusal.isEmpty()
        ? new Evidence(now, Evidence.none(now, refusal).observation(), live, Map.of(), counted)
        : new Evidence(now, LeakLayout.observation(observation), live, readSites(), counted);
  }

  private String refusal(int result) {
    String refusal = start.refusal();
    return refusal.isEmpty() ? "the observation cannot be read: errno " + -result : refusal;
  }

  private List<SampledObject> readObjects() {
    int count = copyObjects();
    while (count == capacity() && count < MOST_OBJECTS) {
      int more = Math.min(MOST_OBJECTS, 4 * count);
      objects = Structs.keepInstead(objects, more * SiteLayout.OBJECT_BYTES);
      count = copyObjects();
    }
    List<SampledObject> live = new ArrayList<>(Math.max(0, count));
    for (int i = 0; i < count; i++) {
      SampledObject object = LeakLayout.object(objects, i * SiteLayout.OBJECT_BYTES);
      if (object.probability() > 0) {
        live.add(object);
      }
    }
    return live;
  }

  private int copyObjects() {
    return LibraryFunctions.mallometer_objects(
        Structs.address(objects), SiteLayout.OBJECT_BYTES, capacity());
  }

  private int capacity() {
    return objects.capacity() / SiteLayout.OBJECT_BYTES;
  }

  private Map<Integer, SiteUse> readSites() {
    Map<Integer, SiteUse> known = new HashMap<>();
    int count = SITES_AT_ONCE;
    for (int first = 0; count == SITES_AT_ONCE && first < MOST_SITES; first += count) {
      count =
          LibraryFunctions.mallometer_evidence(
              Structs.address(sites), LeakLayout.SITE_BYTES, SITES_AT_ONCE, first);
      for (int i = 0; i < count; i++) {
        int at = i * LeakLayout.SITE_BYTES;
        int site = sites.getInt(at + LeakLayout.SITE);
        SiteUse use = LeakLayout.site(sites, at);
        SiteUse before = known.put(site, use);
        if (before != null) {
          known.put(site, before.plus(use));
        }
      }
    }
    return known;
  }

  // ---- Where objects are used

  /** Returns why that is not possible; empty if it is. */
  synchronized String watch(List<Integer> numbers) {
    ByteBuffer wanted = Structs.allocate(Math.max(1, numbers.size()) * Integer.BYTES);
    for (int number : numbers) {
      wanted.putInt(number);
    }
    int result = LibraryFunctions.mallometer_watch(Structs.address(wanted), numbers.size());
    return result == 0 ? "" : reasonNotToWatch(result);
  }

  private String reasonNotToWatch(int result) {
    observation.putInt(LeakLayout.SIZE, LeakLayout.BYTES);
    boolean known = LibraryFunctions.mallometer_leaks(Structs.address(observation)) == 0;
    String reason = known ? LeakLayout.observation(observation).watchReason() : "";
    return reason.isEmpty() ? "watchpoints cannot be set: errno " + -result : reason;
  }

  /**
   * The uses that were seen.
   *
   * @param naming names the frames of a recorded stack
   */
  synchronized List<UseOfSite> seen(Function<long[], List<StackFrame>> naming) {
    ByteBuffer accesses = Structs.allocate(MOST_ACCESSES * LeakLayout.ACCESS_BYTES);
    int count =
        LibraryFunctions.mallometer_accesses(
            Structs.address(accesses), LeakLayout.ACCESS_BYTES, MOST_ACCESSES);
    List<UseOfSite> seen = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int at = i * LeakLayout.ACCESS_BYTES;
      seen.add(
          new UseOfSite(
              accesses.getInt(at + LeakLayout.ACCESS_SITE),
              accesses.getInt(at + LeakLayout.ACCESS_KIND) == LeakLayout.WRITE,
              accesses.getLong(at + LeakLayout.ACCESS_MONOTONIC_NS),
              ReportLayout.text(
                  accesses,
                  at + LeakLayout.ACCESS_THREAD_NAME,
                  LeakLayout.ACCESS_THREAD_NAME_BYTES),
              naming.apply(stack(accesses, at))));
    }
    return seen;
  }

  private static long[] stack(ByteBuffer accesses, int at) {
    int frames =
        Math.min(
            LeakLayout.ACCESS_MOST_FRAMES,
            Math.max(0, accesses.getInt(at + LeakLayout.ACCESS_FRAMES)));
    long[] stack = new long[frames];
    for (int i = 0; i < frames; i++) {
      stack[i] = accesses.getLong(at + LeakLayout.ACCESS_STACK + i * Long.BYTES);
    }
    return stack;
  }
}
