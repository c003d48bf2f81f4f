import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.Mallometer;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PinnedMemory;
import io.mallometer.model.TrimReport;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import sun.misc.Unsafe;

/**
 * One fragmentation kernel: {@code Kernel NAME PLANTED}, of which PLANTED is the end of the name of the call site whose
 * objects separate most free memory. NAME is one of those below; or a shared library, of which {@code kernel_main()}
 * runs in a thread of its own; or a class with {@code main}. Waits for the conclusion, trims, and prints one row of a
 * table.
 */
final class Kernel {
  private static final Unsafe UNSAFE = unsafe();
  private static final List<Long> PINS = new ArrayList<>();
  private static final List<Long> OTHERS = new ArrayList<>();

  private Kernel() {}

  public static void main(String[] arguments) throws Exception {
    Mallometer mallometer = Mallometer.open(MallometerOptions.defaults());
    switch (arguments[0]) {
      case "few-between-large" -> fewBetweenLarge();
      case "many-between-small" -> manyBetweenSmall();
      case "old-among-young" -> oldAmongYoung();
      default -> runForeign(arguments[0]);
    }
    Instant ready = Instant.now();
    Optional<PinnedMemory> pinned = Optional.empty();
    for (int second = 0; second < 150 && !isNamed(pinned, ready); second++) {
      Thread.sleep(1000);
      pinned = mallometer.snapshot().allocator().flatMap(AllocatorStatistics::pinned);
    }
    TrimReport trim = mallometer.allocator().trim();
    PinnedMemory found = pinned.orElseThrow(() -> new IllegalStateException("no conclusion"));
    String first = found.sites().isEmpty() ? "none" : found.sites().get(0).site();
    System.err.println(found.sentence());
    System.err.println(found);
    System.out.printf(
        Locale.ROOT,
        "| %s | %s | %s | %.1f | %.1f | %.1f to %.1f | %.1f | %.1f |%n",
        arguments[0].replaceAll(".*/|[.]so$", ""),
        first,
        first.endsWith(arguments[1]) ? "yes" : "NO",
        mib(mallometer.snapshot().allocator().orElseThrow().retainedBytes()),
        mib(found.bytes().value()),
        mib(found.bytes().low()),
        mib(found.bytes().high()),
        mib(found.returnableBytes().value()),
        mib(trim.returnedBytes()));
    System.out.flush();
    Runtime.getRuntime().halt(first.endsWith(arguments[1]) ? 0 : 1);
  }

  /** Names of sites come within two minutes of the start. */
  private static boolean isNamed(Optional<PinnedMemory> pinned, Instant ready) {
    return pinned.isPresent()
        && pinned.get().time().isAfter(ready)
        && !pinned.get().sites().isEmpty()
        && pinned.get().sites().get(0).site().contains(".");
  }

  /** It does not end by itself, and is given half a minute for what it does. */
  private static void runForeign(String name) throws Exception {
    if (name.endsWith(".so")) {
      Pointer begin = NativeLibrary.getInstance(name).getFunction("kernel_main");
      Function.getFunction("c", "pthread_create").invokeInt(new Object[] {new Memory(8), null, begin, null});
    } else {
      Method begin = Class.forName(name).getMethod("main", String[].class);
      Thread thread = new Thread(() -> invoke(begin), "kernel");
      thread.setDaemon(true);
      thread.start();
    }
    Thread.sleep(30_000);
  }

  private static void invoke(Method begin) {
    try {
      begin.invoke(null, (Object) new String[0]);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** 256 bytes behind each 60 KiB, which are freed. */
  private static void fewBetweenLarge() {
    List<Long> gaps = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      gaps.add(fill(60 << 10));
      PINS.add(pin(256));
    }
    gaps.forEach(UNSAFE::freeMemory);
  }

  /** 128 bytes behind each 3,000, which are freed: hardly a whole page is free. */
  private static void manyBetweenSmall() {
    List<Long> gaps = new ArrayList<>();
    for (int i = 0; i < 30_000; i++) {
      gaps.add(fill(3000));
      PINS.add(pin(128));
    }
    gaps.forEach(UNSAFE::freeMemory);
  }

  /** A queue through which objects of mixed sizes go, of which one in 40 stays; and a cache that lies alone. */
  private static void oldAmongYoung() {
    Random random = new Random(1);
    Deque<Long> queue = new ArrayDeque<>();
    for (int i = 0; i < 200_000; i++) {
      queue.add(fill(64 + random.nextInt(4000)));
      if (i % 40 == 0) {
        PINS.add(pin(100 + random.nextInt(400)));
      }
      if (queue.size() > 20_000) {
        UNSAFE.freeMemory(queue.remove());
      }
    }
    for (int i = 0; i < 20_000; i++) {
      OTHERS.add(cached(1000));
    }
    queue.forEach(UNSAFE::freeMemory);
  }

  private static long pin(int bytes) {
    return touched(UNSAFE.allocateMemory(bytes), bytes);
  }

  private static long fill(int bytes) {
    return touched(UNSAFE.allocateMemory(bytes), bytes);
  }

  private static long cached(int bytes) {
    return touched(UNSAFE.allocateMemory(bytes), bytes);
  }

  private static long touched(long address, int bytes) {
    UNSAFE.setMemory(address, bytes, (byte) 1);
    return address;
  }

  private static double mib(double bytes) {
    return bytes / (1 << 20);
  }

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
