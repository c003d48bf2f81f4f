import com.sun.jna.NativeLibrary;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.RootAllocator;

/**
 * Programs whose resident set mallometer divides into parts. "jna" and "ffm" call a native library,
 * which maps and touches 120 MiB. "netty" and "arrow" hold 80 MiB of buffers. "cost" prints the
 * time of mmap and munmap calls from Java, with and without mallometer.
 */
public final class Resident {

  private static final long BYTES = 120L << 20;
  private static final int HELD = 20 << 20;
  private static final int CALLS = 20;
  // The 70 slices cause 3,500 stack walks, fewer than the 4,000 that mallometer allows at once.
  private static final int WARM_SLICES = 20;
  private static final int SLICES = 50;
  private static final int PAIRS = 50;
  private static final List<ArrowBuf> ARROW = new ArrayList<>();

  private Resident() {}

  public static void main(String[] arguments) throws Throwable {
    // Waits until the agent has started in parallel. Earlier stacks would have no Java frames.
    Thread.sleep(5_000);
    switch (arguments[0]) {
      case "jna" -> mapByJna(arguments[1]);
      case "ffm" -> mapByForeignFunction(function(arguments[1]));
      case "arrow" -> useArrow();
      case "cost" -> measureCost(NativeLibrary.getInstance(arguments[1]));
      default -> useNetty();
    }
    Thread.sleep(Long.MAX_VALUE);
  }

  private static void mapByJna(String library) {
    NativeLibrary.getInstance(library).getFunction("own_map").invoke(new Object[] {BYTES});
  }

  private static void mapByForeignFunction(MethodHandle map) throws Throwable {
    map.invokeWithArguments(BYTES);
  }

  /** Looks up the interface of JDK 22 and later by name, because the program is compiled for an older JDK. */
  private static MethodHandle function(String library) throws ReflectiveOperationException {
    Class<?> lookup = Class.forName("java.lang.foreign.SymbolLookup");
    Class<?> arena = Class.forName("java.lang.foreign.Arena");
    Class<?> linker = Class.forName("java.lang.foreign.Linker");
    Class<?> layout = Class.forName("java.lang.foreign.MemoryLayout");
    Class<?> descriptor = Class.forName("java.lang.foreign.FunctionDescriptor");
    Object global = arena.getMethod("global").invoke(null);
    Object symbols = lookup.getMethod("libraryLookup", Path.class, arena).invoke(null, Path.of(library), global);
    Optional<?> found = (Optional<?>) lookup.getMethod("find", String.class).invoke(symbols, "own_map");
    Object ofLong = Class.forName("java.lang.foreign.ValueLayout").getField("JAVA_LONG").get(null);
    Object parameters = Array.newInstance(layout, 1);
    Array.set(parameters, 0, ofLong);
    Object type = descriptor.getMethod("ofVoid", parameters.getClass()).invoke(null, parameters);
    Object options = Array.newInstance(Class.forName("java.lang.foreign.Linker$Option"), 0);
    return (MethodHandle)
        linker
            .getMethod("downcallHandle", Class.forName("java.lang.foreign.MemorySegment"), descriptor, options.getClass())
            .invoke(linker.getMethod("nativeLinker").invoke(null), found.get(), type, options);
  }

  /** Prints the nanoseconds of a pair of mmap and munmap, with mallometer and without it by turns. */
  private static void measureCost(NativeLibrary own) throws InterruptedException {
    NativeLibrary mallometer = NativeLibrary.getProcess();
    // Waits until mallometer's budget of stack walks is full. The budget gains 50 walks a second, up to 4,000.
    Thread.sleep(80_000);
    StringBuilder line = new StringBuilder("pairs");
    for (int i = 0; i < WARM_SLICES + SLICES; i++) {
      mallometer.getFunction("mallometer_disable").invokeInt(new Object[0]);
      long without = nanosOfPairs(CALLS, own);
      mallometer.getFunction("mallometer_enable").invokeInt(new Object[0]);
      long with = nanosOfPairs(CALLS, own);
      if (i >= WARM_SLICES) {
        line.append(' ').append(without / PAIRS).append(' ').append(with / PAIRS);
      }
    }
    mapBelow(CALLS, own);
    System.out.println(line);
  }

  private static long nanosOfPairs(int calls, NativeLibrary own) {
    return calls == 0 ? own.getFunction("own_pairs").invokeLong(new Object[] {(long) PAIRS}) : nanosOfPairs(calls - 1, own);
  }

  /**
   * Maps memory with the same Java frames on the stack as the measured calls. mallometer's report
   * of this mapping then shows how deep the measured stacks are.
   */
  private static void mapBelow(int calls, NativeLibrary own) {
    if (calls > 0) {
      mapBelow(calls - 1, own);
    } else {
      own.getFunction("own_map").invoke(new Object[] {BYTES});
    }
  }

  private static void useArrow() {
    RootAllocator allocator = new RootAllocator();
    while (allocator.getAllocatedMemory() < 4 * HELD) {
      ArrowBuf buffer = allocator.buffer(256 << 10);
      buffer.setOne(0, buffer.capacity());
      ARROW.add(buffer);
    }
  }

  private static void useNetty() {
    for (int i = 0; i < 4; i++) {
      Thread thread = new Thread(Resident::useBuffers, "event-loop-" + i);
      thread.start();
    }
  }

  private static void useBuffers() {
    Queue<ByteBuf> held = new ArrayDeque<>();
    Random random = new Random(1);
    long bytes = 0;
    try {
      for (int i = 1; ; i++) {
        ByteBuf buffer = ByteBufAllocator.DEFAULT.directBuffer(100 + random.nextInt(i % 100 == 0 ? 1_000_000 : 60_000));
        buffer.writeZero(buffer.capacity());
        held.add(buffer);
        bytes += buffer.capacity();
        while (bytes > HELD) {
          ByteBuf oldest = held.remove();
          bytes -= oldest.capacity();
          oldest.release();
        }
        if (i % 20 == 0) {
          Thread.sleep(20);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
