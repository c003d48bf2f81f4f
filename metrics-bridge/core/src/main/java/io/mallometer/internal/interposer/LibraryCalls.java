package io.mallometer.internal.interposer;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of the library by their numbers in {@link LibraryFunctions#NAMES}.
 *
 * <p>A call takes some 20 ns by {@link DirectCalls}, which a preloaded library and one that this
 * class loader has opened allow. By JNA it takes half a microsecond and boxes its arguments. JNA's
 * direct mapping would halve that, but it generates a class, which takes 30 to 70 ms of a program's
 * start.
 *
 * <p>Only {@link Availability} uses this class first, once the library has the bridge's version: a
 * library of that version has all functions. If it lacks one nevertheless, or JNA is needed and
 * missing, the initialization fails with a {@link LinkageError}.
 */
final class LibraryCalls {

  private static final boolean DIRECT = DirectCalls.linked() || DirectCalls.callsByAddress();
  private static final long[] ADDRESSES = addresses();

  private LibraryCalls() {}

  /** Returns the result of a function, which ignores the arguments that it has no parameter for. */
  static int call(int number, long a, long b, long c, long d, long e) {
    return DIRECT
        ? DirectCalls.call(ADDRESSES[number], a, b, c, d, e)
        : ByJna.call(number, a, b, c, d, e);
  }

  /** Returns the address of a function, for the library to call it. */
  static long address(String name) {
    return ADDRESSES[LibraryFunctions.NAMES.indexOf(name)];
  }

  private static long[] addresses() {
    long[] addresses = new long[LibraryFunctions.NAMES.size()];
    for (int i = 0; i < addresses.length; i++) {
      addresses[i] = DirectCalls.linked() ? DirectCalls.function(i) : ByJna.address(i);
      if (addresses[i] == 0) {
        throw new UnsatisfiedLinkError(LibraryFunctions.NAMES.get(i));
      }
    }
    return addresses;
  }

  /** Loads JNA. */
  private static final class ByJna {
    private static final NativeLibrary LIBRARY = LibraryHandle.inThisProcess();
    private static final @Nullable Function[] FOUND = new Function[LibraryFunctions.NAMES.size()];

    static int call(int number, long a, long b, long c, long d, long e) {
      return function(number).invokeInt(new Object[] {a, b, c, d, e});
    }

    static long address(int number) {
      return Pointer.nativeValue(function(number));
    }

    private static Function function(int number) {
      @Nullable Function found = FOUND[number];
      if (found == null) {
        found = LIBRARY.getFunction(LibraryFunctions.NAMES.get(number));
        FOUND[number] = found;
      }
      return found;
    }
  }
}
