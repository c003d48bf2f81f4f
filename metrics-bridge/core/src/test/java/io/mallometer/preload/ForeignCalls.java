package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.StackFrame;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Allocates through the foreign-function interface of JDK 22 and later until the compiler has
 * inlined the call, and prints the call sites. Looks the interface up by name, because the program
 * is compiled for an older JDK.
 *
 * <p>Argument: the seconds to run.
 */
public final class ForeignCalls {

  private static final int BYTES = 4_096;

  private static final MethodHandle MALLOC = function("malloc", 1);

  private static final class Allocator {
    static long malloc(int bytes) {
      long address;
      try {
        address = (long) MALLOC.invokeExact((long) Math.max(1, bytes));
      } catch (Throwable e) {
        throw new AssertionError(e);
      }
      if (address == 0) {
        throw new OutOfMemoryError("there are no " + bytes + " bytes");
      }
      return address;
    }
  }

  private static final class Buffer {
    final long address;

    Buffer(int bytes) {
      address = Allocator.malloc(bytes);
    }
  }

  private static final class Assembler {
    private final Map<Long, Buffer> held = new HashMap<>();
    private long next;

    void assemble() {
      Buffer buffer = new Buffer(BYTES);
      held.put(Long.valueOf(next++), buffer);
    }
  }

  private ForeignCalls() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (Mallometer mallometer = Mallometer.open()) {
      mallometer.sites().read();
      Assembler assembler = new Assembler();
      long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
      for (int i = 0; System.nanoTime() < end; i++) {
        assembler.assemble();
        if (i % 32 == 0) {
          Thread.sleep(1);
        }
      }
      for (CallSite site : mallometer.sites().read().sites()) {
        print(site);
      }
    }
  }

  private static void print(CallSite site) {
    // Leaves out compiler threads: their stacks name the compiled method, which does not call
    // malloc there.
    List<String> callers =
        site.frames().stream()
            .filter(frame -> frame.kind() == StackFrame.Kind.JAVA)
            .filter(frame -> frame.owner().startsWith(ForeignCalls.class.getName()))
            .limit(3)
            .map(StackFrame::toString)
            .toList();
    if (!callers.isEmpty()) {
      System.out.println(
          String.join(
              "\t",
              site.name(),
              String.valueOf(Math.round(site.liveBytes().value())),
              site.topFrame(),
              String.join(" ", callers)));
    }
  }

  /** Returns a C function that takes the given number of longs and returns a long. */
  static MethodHandle function(String name, int arguments) {
    try {
      Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
      Class<?> lookupType = Class.forName("java.lang.foreign.SymbolLookup");
      Class<?> segmentType = Class.forName("java.lang.foreign.MemorySegment");
      Class<?> layoutType = Class.forName("java.lang.foreign.MemoryLayout");
      Class<?> descriptorType = Class.forName("java.lang.foreign.FunctionDescriptor");
      Class<?> optionType = Class.forName("java.lang.foreign.Linker$Option");
      Object ofLong =
          Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_LONG").get(null);
      Object linker = linkerType.getMethod("nativeLinker").invoke(null);
      Object lookup = linkerType.getMethod("defaultLookup").invoke(linker);
      Object found =
          ((Optional<?>) lookupType.getMethod("find", String.class).invoke(lookup, name))
              .orElseThrow();
      Object layouts = Array.newInstance(layoutType, arguments);
      for (int i = 0; i < arguments; i++) {
        Array.set(layouts, i, ofLong);
      }
      Object descriptor =
          descriptorType
              .getMethod("of", layoutType, layouts.getClass())
              .invoke(null, ofLong, layouts);
      Object options = Array.newInstance(optionType, 0);
      return (MethodHandle)
          linkerType
              .getMethod("downcallHandle", segmentType, descriptorType, options.getClass())
              .invoke(linker, found, descriptor, options);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
