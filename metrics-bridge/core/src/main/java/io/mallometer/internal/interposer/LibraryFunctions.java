package io.mallometer.internal.interposer;

import com.sun.jna.Function;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code mallometer.h} that the bridge calls, under their C names, as {@link
 * LibraryHandle} finds them.
 *
 * <p>A call takes some 20 ns by {@link DirectCalls}, which a preloaded library and one that this
 * class loader has opened allow. By JNA it takes half a microsecond and boxes its arguments; JNA's
 * direct mapping would halve that, but for it JNA lays out a structure by an annotation, for which
 * the JDK generates a class: 30 to 70 ms of a program's start. Pointers are passed as {@code long},
 * which is right wherever the library exists (64 bit). Initialising this class fails with a {@link
 * LinkageError} if JNA is needed and missing, or one of the two functions without which there is
 * nothing to read; only {@link Availability} touches it first.
 */
final class LibraryFunctions {

  /** ENOSYS as the kernel returns it; the library never does. */
  static final int NOT_THERE = -38;

  private static final List<String> MISSING = new ArrayList<>();

  private static final @Nullable LibraryFunction VERSION = optional(LibraryHandle.VERSION_FUNCTION);
  private static final LibraryFunction SNAPSHOT = function("mallometer_snapshot");
  private static final @Nullable LibraryFunction THREAD_SNAPSHOT =
      functionIfThere("mallometer_thread_snapshot");
  private static final LibraryFunction SELF = function("mallometer_self");
  private static final @Nullable LibraryFunction EVENTS = functionIfThere("mallometer_events");
  private static final @Nullable LibraryFunction ALLOCATOR =
      functionIfThere("mallometer_allocator");
  private static final @Nullable LibraryFunction JVM_ATTACH =
      functionIfThere("mallometer_jvm_attach");
  private static final @Nullable LibraryFunction METHOD_NAME =
      functionIfThere("mallometer_method_name");
  private static final @Nullable LibraryFunction SITES = functionIfThere("mallometer_sites");
  private static final @Nullable LibraryFunction SITE_STACK =
      functionIfThere("mallometer_site_stack");
  private static final @Nullable LibraryFunction MODULES = functionIfThere("mallometer_modules");
  private static final @Nullable LibraryFunction OBJECTS = functionIfThere("mallometer_objects");
  private static final @Nullable LibraryFunction LEAKS_START =
      functionIfThere("mallometer_leaks_start");
  private static final @Nullable LibraryFunction LEAKS_STOP =
      functionIfThere("mallometer_leaks_stop");
  private static final @Nullable LibraryFunction LEAKS = functionIfThere("mallometer_leaks");
  private static final @Nullable LibraryFunction EVIDENCE = functionIfThere("mallometer_evidence");
  private static final @Nullable LibraryFunction WATCH = functionIfThere("mallometer_watch");
  private static final @Nullable LibraryFunction ACCESSES = functionIfThere("mallometer_accesses");
  private static final @Nullable LibraryFunction SEARCH_START =
      functionIfThere("mallometer_search_start");
  private static final @Nullable LibraryFunction SEARCH = functionIfThere("mallometer_search");
  private static final @Nullable LibraryFunction CONFIGURE =
      functionIfThere("mallometer_configure");
  private static final @Nullable LibraryFunction RECORD = functionIfThere("mallometer_record");
  private static final @Nullable LibraryFunction RECORDING =
      functionIfThere("mallometer_recording");
  private static final @Nullable LibraryFunction TRIM = functionIfThere("mallometer_trim");
  private static final @Nullable LibraryFunction ATTACH = optional("mallometer_attach");
  private static final @Nullable LibraryFunction ATTACH_CHECK = optional("mallometer_attach_check");
  private static final @Nullable LibraryFunction DETACH = optional("mallometer_detach");
  private static final @Nullable LibraryFunction SCOPE_OPEN = optional("mallometer_scope_open");
  private static final @Nullable LibraryFunction SCOPE_READ = optional("mallometer_scope_read");
  private static final @Nullable LibraryFunction SCOPE_CLOSE = optional("mallometer_scope_close");
  private static final @Nullable LibraryFunction SCOPE_OBJECTS =
      optional("mallometer_scope_objects");
  private static final @Nullable LibraryFunction OWNERS_BEGIN = optional("mallometer_owners_begin");
  private static final @Nullable LibraryFunction OWNERS_STEP = optional("mallometer_owners_step");
  private static final @Nullable LibraryFunction OWNERS_ROWS = optional("mallometer_owners_rows");
  private static final @Nullable LibraryFunction OWNERS_NAME = optional("mallometer_owners_name");
  private static final @Nullable LibraryFunction OWNERS_END = optional("mallometer_owners_end");
  private static final @Nullable LibraryFunction NEIGHBOURS = optional("mallometer_neighbours");

  private static final @Nullable LibraryFunction THRESHOLD_OPEN =
      optional("mallometer_threshold_open");
  private static final @Nullable LibraryFunction THRESHOLD_READ =
      optional("mallometer_threshold_read");
  private static final @Nullable LibraryFunction THRESHOLD_CLOSE =
      optional("mallometer_threshold_close");
  private static final @Nullable LibraryFunction MONITOR_REGISTER =
      optional("mallometer_monitor_register");
  private static final @Nullable LibraryFunction MONITOR_UNREGISTER =
      optional("mallometer_monitor_unregister");
  private static final @Nullable LibraryFunction COUNT_ACTUAL = optional("mallometer_count_actual");

  private LibraryFunctions() {}

  /** The names of functions that this library is too old to have. A call returns ENOSYS. */
  static List<String> missing() {
    return List.copyOf(MISSING);
  }

  /** The version of the library's interface. */
  static int mallometer_abi_version() {
    return call(VERSION);
  }

  /** Fills a {@code struct mallometer_counters}; returns 0 or a negative errno value. */
  static int mallometer_snapshot(long snapshot, int origin) {
    return SNAPSHOT.call(snapshot, origin, 0, 0, 0);
  }

  /** The same for the calling thread. */
  static int mallometer_thread_snapshot(long snapshot) {
    return call(THREAD_SNAPSHOT, snapshot);
  }

  /** Fills a {@code struct mallometer_report}; returns 0 or a negative errno value. */
  static int mallometer_self(long self) {
    return SELF.call(self, 0, 0, 0, 0);
  }

  /**
   * Copies {@code struct mallometer_event}s with numbers above {@code after}; returns how many, or
   * a negative errno value.
   */
  static int mallometer_events(long events, int eventSize, int capacity, long after) {
    return call(EVENTS, events, eventSize, capacity, after);
  }

  /**
   * Fills a {@code struct mallometer_allocator_state} and up to {@code capacity} of {@code struct
   * mallometer_arena}; returns 0 or a negative errno value.
   */
  static int mallometer_allocator(long state, long rows, int rowSize, int capacity) {
    return call(ALLOCATOR, state, rows, rowSize, capacity);
  }

  /** Copies {@code struct mallometer_neighbour}; returns how many, or a negative errno value. */
  static int mallometer_neighbours(long rows, int rowSize, int capacity) {
    return call(NEIGHBOURS, rows, rowSize, capacity);
  }

  /** Lets stacks have Java frames; returns 0 or a negative errno value. */
  static int mallometer_jvm_attach() {
    return call(JVM_ATTACH);
  }

  /** Fills a {@code struct mallometer_method}; returns 0 or a negative errno value. */
  static int mallometer_method_name(int number, long method) {
    return call(METHOD_NAME, number, method);
  }

  /**
   * Copies {@code struct mallometer_site}s with numbers from {@code first} on; returns how many, or
   * a negative errno value.
   */
  static int mallometer_sites(long sites, int siteSize, int capacity, int first) {
    return call(SITES, sites, siteSize, capacity, first);
  }

  /** Copies the frames of a site; returns how many, or a negative errno value. */
  static int mallometer_site_stack(int number, long frames, int capacity) {
    return call(SITE_STACK, number, frames, capacity);
  }

  /**
   * Copies {@code struct mallometer_module}s with numbers from {@code first} on; returns how many,
   * or a negative errno value.
   */
  static int mallometer_modules(long modules, int moduleSize, int capacity, int first) {
    return call(MODULES, modules, moduleSize, capacity, first);
  }

  /** Copies {@code struct mallometer_object}s; returns how many, or a negative errno value. */
  static int mallometer_objects(long objects, int objectSize, int capacity) {
    return call(OBJECTS, objects, objectSize, capacity);
  }

  /** Observes the use of objects from now on; returns 0 or a negative errno value. */
  static int mallometer_leaks_start() {
    return call(LEAKS_START);
  }

  /** Takes back one start; returns 0 or a negative errno value. */
  static int mallometer_leaks_stop() {
    return call(LEAKS_STOP);
  }

  /** Fills a {@code struct mallometer_observation}; returns 0 or a negative errno value. */
  static int mallometer_leaks(long observation) {
    return call(LEAKS, observation);
  }

  /**
   * Copies {@code struct mallometer_site_evidence}s, of which {@code first} are left out; returns
   * how many, or a negative errno value.
   */
  static int mallometer_evidence(long evidence, int evidenceSize, int capacity, int first) {
    return call(EVIDENCE, evidence, evidenceSize, capacity, first);
  }

  /**
   * Looks from now on where objects of call sites are used, given as {@code uint32_t}s; returns 0
   * or a negative errno value.
   */
  static int mallometer_watch(long sites, int count) {
    return call(WATCH, sites, count);
  }

  /** Copies {@code struct mallometer_access}es; returns how many, or a negative errno value. */
  static int mallometer_accesses(long accesses, int accessSize, int capacity) {
    return call(ACCESSES, accesses, accessSize, capacity);
  }

  /**
   * Searches memory for addresses of objects of call sites, given as {@code uint32_t}s; returns 0
   * or a negative errno value.
   */
  static int mallometer_search_start(long sites, int count, long mostBytes) {
    return call(SEARCH_START, sites, count, mostBytes);
  }

  /**
   * Fills a {@code struct mallometer_searched} and up to {@code capacity} of {@code struct
   * mallometer_sought}; returns how many, or a negative errno value.
   */
  static int mallometer_search(long searched, long objects, int capacity) {
    return call(SEARCH, searched, objects, SearchLayout.OBJECT_BYTES, capacity);
  }

  /** Changes an option; returns 0 or a negative errno value. */
  static int mallometer_configure(int option, long value) {
    return call(CONFIGURE, option, value);
  }

  /**
   * Starts to record into a file, given as a zero-terminated path; returns 0 or a negative errno.
   */
  static int mallometer_record(long path) {
    return call(RECORD, path);
  }

  /** Fills a {@code struct mallometer_black_box}; returns 0 or a negative errno value. */
  static int mallometer_recording(long recording) {
    return call(RECORDING, recording);
  }

  /** Trims; returns 0 or a negative errno value. */
  static int mallometer_trim() {
    return call(TRIM);
  }

  /** Begins to count in this process; returns 0 or a negative errno value. */
  static int mallometer_attach() {
    return call(ATTACH);
  }

  /** Looks after what attaching changed; returns 0 or a negative errno value. */
  static int mallometer_attach_check() {
    return call(ATTACH_CHECK);
  }

  /** Ends what attaching began; returns 0 or a negative errno value. */
  static int mallometer_detach() {
    return call(DETACH);
  }

  /** Opens a scope; returns its number, which is above 0, or a negative errno value. */
  static int mallometer_scope_open(int options) {
    return call(SCOPE_OPEN, options);
  }

  /** Fills a {@code struct mallometer_scope}; returns 0 or a negative errno value. */
  static int mallometer_scope_read(int number, long figures) {
    return call(SCOPE_READ, number, figures);
  }

  /** The same, and closes the scope. */
  static int mallometer_scope_close(int number, long figures) {
    return call(SCOPE_CLOSE, number, figures);
  }

  /** Copies {@code struct mallometer_object}s; returns how many, or a negative errno value. */
  static int mallometer_scope_objects(int number, long objects, int objectSize, int capacity) {
    return call(SCOPE_OBJECTS, number, objects, objectSize, capacity);
  }

  /** Begins a search for owners; fills a {@code struct mallometer_owners}; returns 0 or errno. */
  static int mallometer_owners_begin(int site, long owners) {
    return call(OWNERS_BEGIN, site, owners);
  }

  /** Does a step of it; the same. */
  static int mallometer_owners_step(int step, long owners) {
    return call(OWNERS_STEP, step, owners);
  }

  /** Copies rows of a kind; returns how many, or a negative errno value. */
  static int mallometer_owners_rows(int kind, long rows, int rowSize, int capacity) {
    return call(OWNERS_ROWS, kind, rows, rowSize, capacity);
  }

  /** Copies the text of a name; returns 0 or a negative errno value. */
  static int mallometer_owners_name(int number, long name, int bytes) {
    return call(OWNERS_NAME, number, name, bytes);
  }

  /** Ends the search; returns 0 or a negative errno value. */
  static int mallometer_owners_end() {
    return call(OWNERS_END);
  }

  /**
   * Keeps requests above a size, of one thread, or of all for 0; returns a number above 0, or a
   * negative errno value.
   */
  static int mallometer_threshold_open(long bytes, int thread) {
    return call(THRESHOLD_OPEN, bytes, thread);
  }

  /**
   * Copies {@code struct mallometer_event}s since the last reading; returns how many, or a negative
   * errno value.
   */
  static int mallometer_threshold_read(int number, long events, int eventSize, int capacity) {
    return call(THRESHOLD_READ, number, events, eventSize, capacity);
  }

  /** Closes it; returns 0 or a negative errno value. */
  static int mallometer_threshold_close(int number) {
    return call(THRESHOLD_CLOSE, number);
  }

  /**
   * Registers a {@code struct mallometer_monitor}; returns a number above 0, or a negative errno
   * value.
   */
  static int mallometer_monitor_register(long monitor) {
    return call(MONITOR_REGISTER, monitor);
  }

  /** Unregisters it; returns 0 or a negative errno value. */
  static int mallometer_monitor_unregister(int number) {
    return call(MONITOR_UNREGISTER, number);
  }

  /** The address of {@code mallometer_count_actual}, which is for monitors; 0 if it is missing. */
  static long countActual() {
    return COUNT_ACTUAL == null ? 0 : COUNT_ACTUAL.address();
  }

  private static LibraryFunction function(String name) {
    LibraryFunction found = optional(name);
    if (found == null) {
      throw new UnsatisfiedLinkError(name);
    }
    return found;
  }

  private static @Nullable LibraryFunction functionIfThere(String name) {
    LibraryFunction found = optional(name);
    if (found == null) {
      MISSING.add(name);
    }
    return found;
  }

  /** No figure depends on it. */
  private static @Nullable LibraryFunction optional(String name) {
    if (DirectCalls.linked()) {
      long address = DirectCalls.function(name);
      return address == 0 ? null : new Direct(address);
    }
    return ByJna.find(name);
  }

  private static int call(@Nullable LibraryFunction function) {
    return call(function, 0);
  }

  private static int call(@Nullable LibraryFunction function, long a) {
    return call(function, a, 0);
  }

  private static int call(@Nullable LibraryFunction function, long a, long b) {
    return call(function, a, b, 0);
  }

  private static int call(@Nullable LibraryFunction function, long a, long b, long c) {
    return call(function, a, b, c, 0);
  }

  private static int call(@Nullable LibraryFunction function, long a, long b, long c, long d) {
    return call(function, a, b, c, d, 0);
  }

  private static int call(
      @Nullable LibraryFunction function, long a, long b, long c, long d, long e) {
    return function == null ? NOT_THERE : function.call(a, b, c, d, e);
  }

  /**
   * A C function of up to five integers or addresses, which ignores what it has no parameter for.
   */
  private interface LibraryFunction {
    int call(long a, long b, long c, long d, long e);

    /** Where it is in this process. */
    long address();
  }

  private static final class Direct implements LibraryFunction {
    private final long address;

    Direct(long address) {
      this.address = address;
    }

    @Override
    public int call(long a, long b, long c, long d, long e) {
      return DirectCalls.call(address, a, b, c, d, e);
    }

    @Override
    public long address() {
      return address;
    }
  }

  private static final class ByJna implements LibraryFunction {
    private final Function function;

    private ByJna(Function function) {
      this.function = function;
    }

    static @Nullable LibraryFunction find(String name) {
      try {
        Function function = LibraryHandle.inThisProcess().getFunction(name);
        return DirectCalls.callsByAddress()
            ? new Direct(Pointer.nativeValue(function))
            : new ByJna(function);
      } catch (UnsatisfiedLinkError e) {
        return null;
      }
    }

    @Override
    public int call(long a, long b, long c, long d, long e) {
      return function.invokeInt(new Object[] {a, b, c, d, e});
    }

    @Override
    public long address() {
      return Pointer.nativeValue(function);
    }
  }
}
