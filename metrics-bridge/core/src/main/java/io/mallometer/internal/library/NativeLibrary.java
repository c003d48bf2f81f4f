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
 * The interface to the library in this process; {@link AbsentLibrary} stands for an absent one.
 * Tests use implementations of their own. Implementations are thread-safe.
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
   * The poller calls this at each poll; new libraries are looked for at most every 5 s. Never
   * throws.
   */
  void stayAttached();

  /**
   * Reads the counters of the process and the library's report on itself.
   *
   * @param time the snapshot's time
   * @throws IllegalStateException if a function of the library fails
   */
  Snapshot read(Instant time);

  /** Reads the counters of the process; empty unless the library counts. Never throws. */
  Optional<NativeCounters> process();

  /** Reads the counters of the calling thread; empty unless the library counts. Never throws. */
  Optional<NativeCounters> thread();

  /** Opens a scope over the calling thread, which is a platform thread. Never throws. */
  OpenScope threadScope(ScopeOptions options);

  /** Opens a scope over the process. Never throws. */
  OpenScope processScope();

  /**
   * Reads the allocator's statistics; empty if it has none. Locks the allocator's arenas, one after
   * the other. Never throws.
   *
   * @param time the time of the statistics
   */
  Optional<AllocatorStatistics> allocator(Instant time);

  /**
   * Makes the allocator return free memory to the operating system, which can take seconds. Returns
   * false if the allocator cannot. Never throws.
   */
  boolean trim();

  /**
   * Reads all call sites, with names; none, with the reason, if they are not recorded. Takes
   * milliseconds. Never throws.
   *
   * @param time the time of the reading
   * @param applicationPackages the packages of the application's own classes, as in {@link
   *     io.mallometer.model.Setting#APPLICATION_PACKAGES}; a site is named by its first frame in
   *     one of them
   * @param whole whether all sites must have stack and name; otherwise the sites with least live
   *     bytes may lack them in the first minutes of a process with many sites
   */
  CallSites callSites(Instant time, List<String> applicationPackages, boolean whole);

  /** Reads all call sites, each with stack and name. */
  default CallSites callSites(Instant time, List<String> applicationPackages) {
    return callSites(time, applicationPackages, true);
  }

  /**
   * Samples nearly every allocation from now on, at any cost; with false, samples as before. A call
   * with false undoes one call with true. Does nothing if nothing is sampled, or everything is.
   * Never throws.
   */
  void sampleClosely(boolean closely);

  /**
   * Attaches the library to the JVM, so that stacks get Java frames. Asks the JVM for the names of
   * new methods, before their classes may be unloaded. Names some call sites that have no name yet.
   * Called about once a second, by a thread of the JVM; takes 20 ms the first time, and
   * microseconds without new methods.
   */
  void nameMethods();

  /**
   * Names the methods that the JVM compiles, from now on, which takes two open files of {@code
   * /proc}; with false, closes the files and names none. Never throws.
   *
   * @return whether the library does as requested; true for an absent library
   */
  boolean nameCompiledMethods(boolean names);

  /**
   * Observes accesses to objects from now on; {@link #evidence} says whether that works. A second
   * call does nothing. Never throws.
   *
   * @param shortestEpoch the shortest time between two readings of the pages' accessed bits
   */
  void observeUse(Duration shortestEpoch);

  /** Withdraws the request of {@link #observeUse}. A second call does nothing. Never throws. */
  void ignoreUse();

  /** Reads what was observed of accesses to objects; takes milliseconds. Never throws. */
  Evidence evidence();

  /**
   * Watches accesses to objects of these call sites from now on, in place of the call sites of
   * earlier calls. Never throws.
   *
   * @param sites their numbers, at most {@link #MOST_WATCHED}; an empty list ends the watch
   * @return the reason if that is not possible; otherwise empty
   */
  String watchUse(List<Integer> sites);

  /** Returns the accesses that the watch saw. Never throws. */
  List<WatchedAccess> watchedAccesses();

  /**
   * Searches the process's memory once for pointers to the live sampled objects of call sites. A
   * thread of the library searches. It uses at most a tenth of one processor, and about 0.35 s of
   * CPU time for each GiB. Never throws.
   *
   * @param sites their numbers, at most {@link #MOST_SEARCHED_SITES}
   * @param mostBytes the most memory that is read
   * @return the reason why no search began; empty if one began
   */
  String searchMemory(List<Integer> sites, long mostBytes);

  /** Returns the state and the result of the latest search. Never throws. */
  MemorySearch memorySearch();

  /**
   * Begins a search of the Java heap for the Java objects that hold sampled live memory of a call
   * site. The caller closes the search. Never throws.
   *
   * @param site the call site's number
   */
  OwnerSearch searchOwners(int site);

  /**
   * Returns those initialized classes, of all class loaders, whose name ends with one of at most
   * sixteen texts, such as {@code .buffer.ByteBufUtil}; empty if they cannot be listed. Loads and
   * initializes no class. Takes milliseconds. Never throws.
   */
  Optional<List<Class<?>>> initializedClasses(List<String> endings);

  /**
   * Returns the ranges that the process mapped while call sites were recorded, with the stacks of
   * the calls, ascending by address; empty if none is known. Never throws.
   */
  List<MappedRange> mappedRanges();

  /**
   * Returns the native stack of a huge request, innermost frame first, up to the first frame of
   * compiled Java code; empty if the library has no stack of it, or no longer has the request.
   * Never throws.
   */
  List<StackFrame> stackOf(HugeAllocation request);

  /**
   * Makes the library store requests above a size from now on: those of the thread with this
   * number, or of all threads if it is 0. The caller closes the watch. Never throws.
   */
  RequestWatch watchRequests(long bytes, int thread);

  /**
   * Starts or stops counting allocations by the sizes that the allocator hands out. A call with
   * false undoes one call with true. While sizes are counted, each allocation and free takes the
   * slow path through the library. Never throws.
   *
   * @return the reason if that is not possible; otherwise empty
   */
  String countReturnedSizes(boolean counts);

  /**
   * Returns the allocations by the sizes that the allocator handed out, counted since {@link
   * #countReturnedSizes} first started counting; empty while they are not counted. Never throws.
   */
  Optional<SizeDistribution> returnedSizes();

  /** Returns whether the library records into a file. Never throws. */
  RecordingStatus recording();

  /**
   * Requests a recording into a file, unless the library records already, and returns the state
   * afterwards: {@link RecordingStatus.State#OFF} without a library. Never throws.
   */
  RecordingStatus record(Path path);

  /**
   * Writes a record into the recording (the file that survives a kill), with the time of the call.
   * The library cuts a text that is too long after the last line that fits. Never throws.
   *
   * @param kind which kind of region in the recording gets the record
   * @param percent the percentage of the memory limit that was exceeded, for a record of the call
   *     sites at that moment; 0 for the call sites at the peak, and for records of other kinds
   * @return the reason why nothing was written; empty if the record was written
   */
  String writeRecording(int kind, int percent, byte[] content);

  /**
   * Requests that termination messages be written to a file, unless this was requested before.
   * Returns whether {@link #message} has the result of the request. Returns false while the library
   * does not count yet, or the file is locked or in use. Never throws.
   */
  boolean beginMessage(String path);

  /** Stores the sentence for the termination messages from now on. Never throws. */
  void prepareMessage(String sentence);

  /** Empties the file of the termination message, and writes no further message. Never throws. */
  void endMessage();

  /**
   * Returns the state of the termination message: its file, or the reason why there is none. Never
   * throws.
   */
  TerminationMessage message();
}
