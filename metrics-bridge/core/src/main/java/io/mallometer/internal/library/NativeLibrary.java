package io.mallometer.internal.library;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.WatchedAccess;
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
import io.mallometer.model.TerminationMessage;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The native library in this process; {@link AbsentLibrary} stands for an absent one. Thread-safe.
 */
public interface NativeLibrary {

  /** The largest number of call sites whose objects can be watched at the same time. */
  int MOST_WATCHED = 4;

  /** The largest number of call sites whose objects one search can look for. */
  int MOST_SEARCHED_SITES = 64;

  /** Returns whether there is a library to poll. Never changes from true to false. */
  boolean present();

  /**
   * Begins to count in this process, unless it counts already, and returns the status afterwards.
   * Takes up to half a second. Never throws.
   */
  Status attach();

  /**
   * Ends the counting that {@link #attach} began, for the whole process, and returns the status
   * afterwards. Never throws.
   */
  Status detach();

  /**
   * Hooks the libraries that were loaded since the attach, so that their allocations are counted.
   * Looks for new libraries at most every 5 s. Never throws.
   */
  void stayAttached();

  /**
   * Reads the counters of the process and the library's report on itself.
   *
   * @throws IllegalStateException if a function of the library fails
   */
  Snapshot read(Instant time);

  /** Reads the counters of the process; empty unless the library counts. Never throws. */
  Optional<NativeCounters> process();

  /** Reads the counters of the calling thread; empty unless the library counts. Never throws. */
  Optional<NativeCounters> thread();

  /** Opens a scope over the calling thread, which must be a platform thread. Never throws. */
  OpenScope threadScope(ScopeOptions options);

  OpenScope processScope();

  /**
   * Reads the allocator's statistics; empty if it has none. Locks the allocator's arenas one by
   * one. Never throws.
   */
  Optional<AllocatorStatistics> allocator(Instant time);

  /**
   * Makes the allocator return free memory to the operating system, which can take seconds. Returns
   * false if the allocator cannot. Never throws.
   */
  boolean trim();

  /**
   * Reads all call sites. Returns none, and the reason, if they are not recorded. Takes
   * milliseconds. Never throws.
   *
   * @param applicationPackages the packages of the application's own classes. The first frame in
   *     one of these packages names the site.
   * @param whole true if every site needs a stack and a name. With false, the smallest sites may
   *     lack both in the first minutes.
   */
  CallSites callSites(Instant time, List<String> applicationPackages, boolean whole);

  default CallSites callSites(Instant time, List<String> applicationPackages) {
    return callSites(time, applicationPackages, true);
  }

  /**
   * Begins to sample nearly every allocation, even if this takes much CPU time. A call with {@code
   * false} undoes one call with {@code true}. Does nothing if sampling is off, or already covers
   * every allocation. Never throws.
   */
  void sampleClosely(boolean closely);

  /**
   * Attaches the library to the JVM, so that stacks get Java frames, and names new methods. Called
   * about once a second by a thread of the JVM, because the JVM forgets a method's name when the
   * class is unloaded. Takes 20 ms the first time. Later calls take microseconds unless there are
   * new methods.
   */
  void nameMethods();

  /**
   * Begins to name the methods that the JVM compiles; with {@code false}, stops. Two files of
   * {@code /proc} are open meanwhile. Never throws.
   *
   * @return whether the library does as requested; also true if the library is absent
   */
  boolean nameCompiledMethods(boolean names);

  /**
   * Observes accesses to objects from now on; {@link #evidence} says whether that works. A second
   * call does nothing. Never throws.
   *
   * @param shortestEpoch the shortest time between two readings of the bits by which the processor
   *     marks accessed pages
   */
  void observeUse(Duration shortestEpoch);

  /** Withdraws the request of {@link #observeUse}. A second call does nothing. Never throws. */
  void ignoreUse();

  /** Reads what was observed of accesses to objects; takes milliseconds. Never throws. */
  Evidence evidence();

  /**
   * Watches accesses to the objects of {@code sites} from now on. The sites of earlier calls are no
   * longer watched. Never throws.
   *
   * @param sites the numbers of the call sites, at most {@link #MOST_WATCHED}; an empty list ends
   *     the watch
   * @return the reason why the sites cannot be watched; empty if they are watched
   */
  String watchUse(List<Integer> sites);

  List<WatchedAccess> watchedAccesses();

  /**
   * Begins a search of the process's memory for pointers to the live sampled objects of call sites.
   * A thread of the library uses at most a tenth of one processor, and about 0.35 s of CPU time for
   * each GiB. Never throws.
   *
   * @param sites their numbers, at most {@link #MOST_SEARCHED_SITES}
   * @return why no search began; empty if one began
   */
  String searchMemory(List<Integer> sites, long mostBytes);

  MemorySearch memorySearch();

  /**
   * Begins a search of the Java heap for the objects that hold sampled live memory of a call site.
   * The caller closes the search. Never throws.
   */
  OwnerSearch searchOwners(int site);

  /**
   * Returns the initialized classes whose names end with one of at most sixteen texts, such as
   * {@code .buffer.ByteBufUtil}. Includes the classes of all class loaders; empty if they cannot be
   * listed. Loads no class. Takes milliseconds. Never throws.
   */
  Optional<List<Class<?>>> initializedClasses(List<String> endings);

  /**
   * Returns the ranges that the process mapped while call sites were recorded, by ascending
   * address. Never throws.
   */
  List<MappedRange> mappedRanges();

  /**
   * Returns the native stack of a huge request, innermost frame first, up to the first frame of
   * compiled Java code; empty if it is unknown. Never throws.
   */
  List<StackFrame> stackOf(HugeAllocation request);

  /**
   * Makes the library store requests above {@code bytes} until the caller closes the watch. {@code
   * thread} is the number of one thread from gettid(2), or 0 for all threads. Never throws.
   */
  RequestWatch watchRequests(long bytes, int thread);

  /**
   * Starts counting allocations by the sizes that the allocator hands out. A call with {@code
   * false} undoes one call with {@code true}. While allocations are counted, each allocation and
   * free takes the slow path through the library. Never throws.
   *
   * @return why counting is not possible; empty if it is
   */
  String countReturnedSizes(boolean counts);

  /**
   * Returns the allocations by the sizes that the allocator handed out, since {@link
   * #countReturnedSizes} began; empty while they are not counted. Never throws.
   */
  Optional<SizeDistribution> returnedSizes();

  RecordingStatus recording();

  /**
   * Begins a recording into a file, unless the library records already, and returns the resulting
   * state: {@link RecordingStatus.State#OFF} without a library. Never throws.
   */
  RecordingStatus record(Path path);

  /**
   * Writes a text with the present time into the recording, the file that survives a kill. A text
   * that is too long is shortened: it ends with the last whole line that fits. Never throws.
   *
   * @param kind the part of the file to write to, by its number in {@code
   *     docs/reference/recording.md}
   * @param percent for a list of call sites that is written because a share of the memory limit was
   *     exceeded: this share in percent; 0 for other texts
   * @return why nothing was written; empty if the text was written
   */
  String writeRecording(int kind, int percent, byte[] content);

  /**
   * Requests that termination messages be written to a file; further calls do nothing. Returns
   * false if the library does not count yet, or the file is locked or in use; the caller may then
   * try again. Never throws.
   */
  boolean beginMessage(String path);

  /** Sets the sentence for the termination message. Never throws. */
  void prepareMessage(String sentence);

  /** Empties the file of the termination message, and writes no further message. Never throws. */
  void endMessage();

  /**
   * Returns the state of the termination message: its file, or the reason why there is none. Never
   * throws.
   */
  TerminationMessage message();
}
