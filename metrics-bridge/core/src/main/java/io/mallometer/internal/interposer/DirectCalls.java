package io.mallometer.internal.interposer;

import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Native methods that the library itself contains ({@code interposer/src/control/java_calls.c}). If
 * the library is preloaded, they spare the bridge JNA, which takes a JVM as long to load as the
 * rest of the bridge takes to start. If the library was opened for an attach, JNA finds the
 * functions and {@link #call} calls them, in 20 ns and not half a microsecond.
 *
 * <p>The JVM binds a library's native methods to one class loader. Other class loaders use JNA, and
 * so does a process whose library file was replaced.
 */
final class DirectCalls {

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

  /** Returns the version of the library's interface. */
  static int version() {
    return call(function(0), 0, 0, 0, 0, 0);
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
      // Another class loader has loaded the library, or its file is gone.
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

  /** Returns the address of a function by its number; 0 if this is not the library that counts. */
  static native long function(int number);

  /** Calls a function with as many of the arguments as it has; returns its result. */
  static native int call(long function, long a, long b, long c, long d, long e);

  /** Zeroed memory that no collection gives back; null if there is none. */
  static native @Nullable ByteBuffer allocate(int bytes);

  /** Where a direct buffer is. */
  static native long address(ByteBuffer direct);

  /** Gives back what {@link #allocate} returned. */
  static native void free(ByteBuffer allocated);
}
