package io.mallometer.internal.library.abi;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import org.jspecify.annotations.Nullable;

/**
 * Calls functions of the library by their numbers in {@link LibraryFunctions#NAMES}. A call by
 * {@link DirectCalls} takes some 20 ns, but the library must be preloaded or opened by this class
 * loader. A call by JNA takes half a microsecond; JNA's direct mapping would halve that, but delay
 * a program's start by 30 to 70 ms.
 *
 * <p>{@code Availability} checks the version of the library first. If a function or JNA is missing
 * nevertheless, the initialization of this class fails with a {@link LinkageError}.
 */
final class LibraryCalls {

  private static final boolean DIRECT = DirectCalls.linked() || DirectCalls.callsByAddress();
  private static final long[] ADDRESSES = addresses();

  private LibraryCalls() {}

  /** Calls a function, which ignores arguments beyond its parameters. */
  static int call(int number, long a, long b, long c, long d, long e) {
    return DIRECT
        ? DirectCalls.call(ADDRESSES[number], a, b, c, d, e)
        : ByJna.call(number, a, b, c, d, e);
  }

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

  /** Calls functions by JNA, which is loaded only if this class is used. */
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
