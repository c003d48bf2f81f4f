package io.mallometer.internal.library.abi;

import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Native methods in the library itself ({@code interposer/src/control/java_calls.c}). With a
 * preloaded library, they replace JNA, which takes long to load. With a library that was opened for
 * an attach, JNA finds the addresses of the functions; {@link #call} then calls a function in 20
 * ns, while JNA takes half a microsecond.
 *
 * <p>The JVM binds the methods to one class loader. Other class loaders use JNA, and so does a
 * process whose library file was replaced.
 */
public final class DirectCalls {

  /** The result of a method that cannot be called. */
  public static final long NOT_LINKED = Long.MIN_VALUE;

  private static volatile boolean linked;
  private static volatile boolean callsByAddress;

  private DirectCalls() {}

  /**
   * Loads the library for this class, and returns whether its native methods can be called.
   *
   * @param library the library's file; empty if it was deleted
   */
  public static boolean link(Optional<String> library) {
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

  public static int version() {
    return call(function(0), 0, 0, 0, 0, 0);
  }

  static boolean linked() {
    return linked;
  }

  /**
   * Prepares {@link #call} for function addresses that JNA found. If that fails, JNA calls the
   * functions.
   *
   * @param library the file that JNA has opened
   */
  public static void linkCalls(Path library) {
    if (callsByAddress || isModuleOfItsOwn()) {
      return;
    }
    try {
      System.load(library.toAbsolutePath().toString());
      function(0); // throws if the library lacks the native methods
      callsByAddress = true;
    } catch (RuntimeException | LinkageError e) {
      // Another class loader has loaded the library, or its file is missing. JNA then calls the
      // functions.
    }
  }

  /**
   * Returns whether this class is in a named module other than JNA's. The JVM warns of native
   * access once for each module, so native methods in this class would cause a second warning.
   */
  private static boolean isModuleOfItsOwn() {
    Module module = DirectCalls.class.getModule();
    return module.isNamed() && module != Native.class.getModule();
  }

  static boolean callsByAddress() {
    return callsByAddress;
  }

  /**
   * Returns the lowest address of each thread's stack and the address after the highest; both are 0
   * for a thread that has ended. Empty if these are not available. Never throws.
   */
  public static Optional<long[]> stackRanges(Thread[] threads) {
    if (!linked && !callsByAddress) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(stacks(threads));
    } catch (LinkageError e) {
      return Optional.empty(); // the library that counts is of another build and lacks the method
    }
  }

  /**
   * Returns how many bytes of a file are in the page cache. A negative descriptor stands for the
   * mapping at {@code begin}. Returns a negative errno value if the kernel does not tell, and
   * {@link #NOT_LINKED} if the library cannot be called. Not thread-safe. Never throws.
   */
  public static long cachedBytes(int descriptor, long begin, long bytes) {
    if (!linked && !callsByAddress) {
      return NOT_LINKED;
    }
    try {
      return cached(descriptor, begin, bytes);
    } catch (LinkageError e) {
      return NOT_LINKED; // the library that counts is of another build and lacks the method
    }
  }

  /**
   * Returns the address of a function of the library, by the function's number. Returns 0 if this
   * class has loaded a second copy of the library, because another copy counts the allocations.
   */
  static native long function(int number);

  /**
   * Calls a function and returns its result. The function ignores arguments that it does not take.
   */
  static native int call(long function, long a, long b, long c, long d, long e);

  /** Returns zeroed memory that garbage collections do not free; null if no memory is available. */
  static native @Nullable ByteBuffer allocate(int bytes);

  static native long address(ByteBuffer direct);

  static native void free(ByteBuffer allocated);

  /**
   * Returns those initialized classes, of all class loaders, whose signature ends with one of at
   * most sixteen texts, such as {@code /buffer/ByteBufUtil;}; null if the JVM does not list them.
   */
  static native Class<?> @Nullable [] classes(String[] endings);

  private static native long @Nullable [] stacks(Thread[] threads);

  private static native long cached(int descriptor, long begin, long bytes);
}
