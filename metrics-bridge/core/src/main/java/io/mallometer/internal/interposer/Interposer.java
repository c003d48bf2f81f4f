package io.mallometer.internal.interposer;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the facade reads: the library in this process, or the reason why it cannot be read. Tests
 * feed the facade through it. Implementations are thread-safe.
 */
public interface Interposer {

  /** As many call sites can be watched at once. */
  int MOST_WATCHED = 4;

  /** Objects of as many call sites can be searched for at once. */
  int MOST_SOUGHT_SITES = 64;

  /** Whether there is a library that can be polled. Once there is, there always will be. */
  boolean present();

  /**
   * Begins to count in this process, unless it does so already, and returns the state then. Takes
   * up to half a second. Never throws.
   */
  default Status attach() {
    return read(Instant.now()).status();
  }

  /** Ends what {@link #attach} began, for everybody in the process. Never throws. */
  default Status detach() {
    return read(Instant.now()).status();
  }

  /**
   * Looks after libraries that were loaded since the attach; called again and again by who polls,
   * at most every 5 s. Never throws.
   */
  default void stayAttached() {}

  /**
   * Reads counters and self-report of the process.
   *
   * @param time the snapshot's time
   * @throws IllegalStateException if the library refuses
   */
  Snapshot read(Instant time);

  /** Reads the counters of the process; empty unless it counts. Never throws. */
  Optional<NativeCounters> process();

  /** Reads the counters of the calling thread; empty unless it counts. Never throws. */
  Optional<NativeCounters> thread();

  /** Opens a scope over the calling thread, which is a platform thread. Never throws. */
  default OpenScope threadScope(ScopeOptions options) {
    return CountedScope.ofThread(this);
  }

  /** Opens a scope over the process. Never throws. */
  default OpenScope processScope() {
    return CountedScope.ofProcess(this);
  }

  /**
   * Asks the allocator for its statistics; empty if it has none. Locks its arenas, one after the
   * other. Never throws.
   *
   * @param time the time of the statistics
   */
  Optional<AllocatorStatistics> allocator(Instant time);

  /**
   * Makes the allocator give free memory back; that can take seconds. Returns false if it cannot.
   * Never throws.
   */
  boolean trim();

  /**
   * Reads all call sites, with names; none, with the reason, where they are not recorded. Takes
   * milliseconds. Never throws.
   *
   * @param time the time of the reading
   */
  default CallSites callSites(Instant time) {
    return CallSites.none(time, "the native library is not loaded, so nothing records them");
  }

  /**
   * The same, naming sites by the first frame of an application.
   *
   * @param applicationPackages the packages of the application's own classes, as in {@link
   *     io.mallometer.model.Setting#APPLICATION_PACKAGES}
   */
  default CallSites callSites(Instant time, List<String> applicationPackages) {
    return callSites(time);
  }

  /**
   * The same, though without {@code whole} stack and names of some sites may be missing in the
   * first minutes: of those that hold least, in a process with many.
   */
  default CallSites callSites(Instant time, List<String> applicationPackages, boolean whole) {
    return callSites(time, applicationPackages);
  }

  /**
   * Looks at nearly every allocation from now on, whatever that takes, or again at as few as
   * before. Each call with true is undone by one with false. Does nothing where nothing is sampled,
   * and where everything is. Never throws.
   */
  default void sampleClosely(boolean closely) {}

  /**
   * Lets stacks have Java frames, and asks the JVM for the names of methods that are new in them,
   * before their classes may be gone; names some of the call sites that have no names yet. Called
   * about once a second, by a thread of the JVM; takes 20 ms the first time, and microseconds where
   * nothing is new.
   */
  default void nameMethods() {}

  /**
   * Observes the use of objects from now on; whether that works {@link #evidence} says. Does
   * nothing the second time. Never throws.
   *
   * @param shortestEpoch no epoch is to be shorter
   */
  default void observeUse(Duration shortestEpoch) {}

  /**
   * Takes that back: what is used is of no interest until it is asked for again. Does nothing the
   * second time. Never throws.
   */
  default void ignoreUse() {}

  /** Reads what is known of the use of objects; takes milliseconds. Never throws. */
  default Evidence evidence() {
    return Evidence.none(
        System.nanoTime(), "the native library is not loaded, so nothing is observed");
  }

  /**
   * Looks from now on where objects of call sites are last used, and no more where others are.
   * Never throws.
   *
   * @param sites their numbers, at most {@link #MOST_WATCHED}; none ends it
   * @return why that is not possible; empty if it is
   */
  default String watchUse(List<Integer> sites) {
    return "the native library is not loaded, so nothing is watched";
  }

  /** The uses that were seen so. Never throws. */
  default List<UseOfSite> usesSeen() {
    return List.of();
  }

  /**
   * Searches the process's memory once for addresses of the live samples of call sites, in a thread
   * of the library: at most a tenth of one processor, about 0.35 s of its time for each GiB. Never
   * throws.
   *
   * @param sites their numbers, at most {@link #MOST_SOUGHT_SITES}
   * @param mostBytes no more memory is read
   * @return why no search has begun; empty if one has
   */
  default String searchMemory(List<Integer> sites, long mostBytes) {
    return "the native library is not loaded, so nothing can be searched";
  }

  /** Reads how the latest search goes, and what it found. Never throws. */
  default MemorySearch memorySearch() {
    return MemorySearch.none("the native library is not loaded, so nothing can be searched");
  }

  /**
   * Begins to search the Java heap for who holds the live samples of a call site; to be closed.
   * Never throws.
   *
   * @param site its number
   */
  default OwnerSearch searchOwners(int site) {
    return OwnerSearch.none("the native library is not loaded, so nothing can be searched");
  }

  /**
   * The native stack of a huge request, innermost frame first, up to the first frame of compiled
   * Java code; empty if it was not recorded, or the library keeps later ones. Never throws.
   */
  default List<StackFrame> stackOf(HugeAllocation request) {
    return List.of();
  }

  /**
   * Has the library keep requests above a size from now on, of the thread of this number, or of all
   * for 0; to be closed. Never throws.
   */
  default RequestWatch watchRequests(long bytes, int thread) {
    return RequestWatch.none("the native library is not there to watch anything");
  }

  /**
   * Counts allocations from now on by the sizes that the allocator hands out, or no more. Each call
   * with true is undone by one with false. Meanwhile all events take the hook's longer path. Never
   * throws.
   *
   * @return why that is not possible; empty if it is
   */
  default String countReturnedSizes(boolean counts) {
    return "the native library is not loaded, so returned sizes are not counted";
  }

  /** What was counted so, since the first time; empty while nothing is. Never throws. */
  default Optional<SizeDistribution> returnedSizes() {
    return Optional.empty();
  }

  /** Whether the library records into a file. Never throws. */
  default RecordingStatus recording() {
    return RecordingStatus.off();
  }

  /**
   * Asks the library to record into a file, unless it does already, and returns what it does then:
   * {@link RecordingStatus.State#OFF} if it is not there to do so. Never throws.
   */
  default RecordingStatus record(Path path) {
    return RecordingStatus.off();
  }

  /** The library in this process. Never throws: what cannot be reached is absent with a reason. */
  static Interposer ofThisProcess() {
    return new ProcessInterposer();
  }
}
