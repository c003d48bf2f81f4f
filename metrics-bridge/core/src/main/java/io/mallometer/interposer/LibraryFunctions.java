package io.mallometer.interposer;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;

/**
 * The functions of {@code mallometer.h} that the bridge calls, under their C names, as they are
 * found in the process itself: the file that they came from may be deleted.
 *
 * <p>Direct mapping with primitive arguments: a call costs about a microsecond and allocates
 * nothing, neither in Java nor by malloc. Pointers are passed as {@code long}, which is right
 * wherever the library exists (64 bit). Initialising this class fails with a {@link LinkageError}
 * if JNA or a function is missing; only {@link Availability} touches it first.
 */
final class LibraryFunctions {

  static {
    Native.register(LibraryFunctions.class, NativeLibrary.getProcess());
  }

  private LibraryFunctions() {}

  /** Fills a {@code struct mallometer_counters}; returns 0 or a negative errno value. */
  static native int mallometer_snapshot(long snapshot, int origin);

  /** The same for the calling thread. */
  static native int mallometer_thread_snapshot(long snapshot);

  /** Fills a {@code struct mallometer_report}; returns 0 or a negative errno value. */
  static native int mallometer_self(long self);

  /**
   * Copies {@code struct mallometer_event}s with numbers above {@code after}; returns how many, or
   * a negative errno value.
   */
  static native int mallometer_events(long events, int eventSize, int capacity, long after);

  /**
   * Fills a {@code struct mallometer_allocator_state} and up to {@code capacity} of {@code struct
   * mallometer_arena}; returns 0 or a negative errno value.
   */
  static native int mallometer_allocator(long state, long rows, int rowSize, int capacity);

  /** Lets stacks have Java frames; returns 0 or a negative errno value. */
  static native int mallometer_jvm_attach();

  /** Fills a {@code struct mallometer_method}; returns 0 or a negative errno value. */
  static native int mallometer_method_name(int number, long method);

  /**
   * Copies {@code struct mallometer_site}s with numbers from {@code first} on; returns how many, or
   * a negative errno value.
   */
  static native int mallometer_sites(long sites, int siteSize, int capacity, int first);

  /** Copies the frames of a site; returns how many, or a negative errno value. */
  static native int mallometer_site_stack(int number, long frames, int capacity);

  /**
   * Copies {@code struct mallometer_module}s with numbers from {@code first} on; returns how many,
   * or a negative errno value.
   */
  static native int mallometer_modules(long modules, int moduleSize, int capacity, int first);

  /** Copies {@code struct mallometer_object}s; returns how many, or a negative errno value. */
  static native int mallometer_objects(long objects, int objectSize, int capacity);

  /** Changes an option; returns 0 or a negative errno value. */
  static native int mallometer_configure(int option, long value);

  /**
   * Starts to record into a file, given as a zero-terminated path; returns 0 or a negative errno.
   */
  static native int mallometer_record(long path);

  /** Fills a {@code struct mallometer_black_box}; returns 0 or a negative errno value. */
  static native int mallometer_recording(long recording);

  /** Trims; returns 0 or a negative errno value. */
  static native int mallometer_trim();
}
