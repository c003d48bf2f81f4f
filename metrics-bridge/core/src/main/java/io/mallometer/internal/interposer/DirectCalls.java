package io.mallometer.internal.interposer;

import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Calls of the library by native methods that it has itself, {@code
 * interposer/src/control/java_calls.c}. They spare the bridge JNA where the library is preloaded:
 * JNA takes a JVM as long to load as all the rest of the bridge's start. Where the library was
 * opened to be attached, JNA finds the functions, and {@link #call} calls them: that takes 20 ns in
 * place of half a microsecond.
 *
 * <p>The JVM gives a library's native methods to one class loader. Others, and those that meet an
 * older library or one whose file was replaced, use JNA.
 */
final class DirectCalls {

  /** In the order of the library's table, to which names are only appended. */
  static final List<String> FUNCTIONS =
      List.of(
          "mallometer_abi_version",
          "mallometer_snapshot",
          "mallometer_thread_snapshot",
          "mallometer_self",
          "mallometer_events",
          "mallometer_allocator",
          "mallometer_jvm_attach",
          "mallometer_method_name",
          "mallometer_sites",
          "mallometer_site_stack",
          "mallometer_modules",
          "mallometer_objects",
          "mallometer_leaks_start",
          "mallometer_leaks_stop",
          "mallometer_leaks",
          "mallometer_evidence",
          "mallometer_watch",
          "mallometer_accesses",
          "mallometer_search_start",
          "mallometer_search",
          "mallometer_configure",
          "mallometer_record",
          "mallometer_recording",
          "mallometer_trim",
          "mallometer_attach",
          "mallometer_attach_check",
          "mallometer_detach",
          "mallometer_scope_open",
          "mallometer_scope_read",
          "mallometer_scope_close",
          "mallometer_scope_objects",
          "mallometer_owners_begin",
          "mallometer_owners_step",
          "mallometer_owners_rows",
          "mallometer_owners_name",
          "mallometer_owners_end",
          "mallometer_neighbours",
          "mallometer_threshold_open",
          "mallometer_threshold_read",
          "mallometer_threshold_close",
          "mallometer_monitor_register",
          "mallometer_monitor_unregister",
          "mallometer_count_actual");

  private static volatile boolean linked;
  private static volatile boolean callsByAddress;

  private DirectCalls() {}

  /**
   * Whether the library's native methods can be called from here on.
   *
   * @param library the file that is mapped into this process; empty if it does not exist any more
   */
  static boolean link(Optional<String> library) {
    if (!linked && library.isPresent()) {
      try {
        System.load(Path.of(library.get()).toAbsolutePath().toString());
        linked = function(0) != 0;
      } catch (RuntimeException | LinkageError e) {
        return false;
      }
    }
    return linked;
  }

  static boolean linked() {
    return linked;
  }

  /**
   * Lets {@link #call} be called with addresses that JNA found. Where it cannot be, JNA calls.
   *
   * @param library the file that JNA has opened
   */
  static void linkCalls(Path library) {
    if (callsByAddress || isModuleOfItsOwn()) {
      return;
    }
    try {
      System.load(library.toAbsolutePath().toString());
      function(0); // throws unless the library has the native methods
      callsByAddress = true;
    } catch (RuntimeException | LinkageError e) {
      // Loaded by another class loader, an older library, or the file is gone.
    }
  }

  /** The JVM warns of native access once for each module, and has done so for JNA's. */
  private static boolean isModuleOfItsOwn() {
    Module module = DirectCalls.class.getModule();
    return module.isNamed() && module != Native.class.getModule();
  }

  /** Whether functions that JNA found can be called by their addresses. */
  static boolean callsByAddress() {
    return callsByAddress;
  }

  /** The address of a function; 0 if the library does not have it. */
  static long function(String name) {
    return function(FUNCTIONS.indexOf(name));
  }

  private static native long function(int number);

  /** Calls a function with as many of the arguments as it has; returns its result. */
  static native int call(long function, long a, long b, long c, long d, long e);

  /** Zeroed memory that no collection gives back; null if there is none. */
  static native @Nullable ByteBuffer allocate(int bytes);

  /** Where a direct buffer is. */
  static native long address(ByteBuffer direct);

  /** Gives back what {@link #allocate} returned. */
  static native void free(ByteBuffer allocated);
}
