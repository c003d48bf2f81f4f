import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.Mallometer;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Estimate;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PinnedMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.TrimReport;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import sun.misc.Unsafe;

/**
 * One fragmentation kernel: {@code Kernel NAME PLANTED}, of which PLANTED is the end of the name of the call site whose
 * objects separate most free memory. NAME is one of those below; or a shared library, of which {@code kernel_main()}
 * runs in a thread of its own; or a class with {@code main}. Waits for the conclusion, trims, and prints one row of a
 * table. With the variable KERNEL_RESIDENT it only prints the resident set in MiB, with KERNEL_HUGE
 * what transparent huge pages hold of it. KERNEL_WAIT_SECONDS is how long it waits before, since samples are few while
 * a JVM starts.
 */
final class Kernel {
  private static final Unsafe UNSAFE = unsafe();
  private static final List<Long> PINS = new ArrayList<>();
  private static final List<Long> OTHERS = new ArrayList<>();

  private Kernel() {}

  public static void main(String[] arguments) throws Exception {
    Mallometer mallometer = Mallometer.open(MallometerOptions.defaults());
    Thread.sleep(1000L * Integer.parseInt(System.getenv().getOrDefault("KERNEL_WAIT_SECONDS", "0")));
    switch (arguments[0]) {
      case "few-between-large" -> fewBetweenLarge();
      case "many-between-small" -> manyBetweenSmall();
      case "old-among-young" -> oldAmongYoung();
      case "bursts-in-turn" -> bursts(1);
      case "bursts-at-once" -> bursts(THREADS);
      case "unequal-gaps" -> unequalGaps();
      case "two-sites" -> twoSites();
      case "sparse-tables" -> sparseTables();
      case "used-heap" -> usedHeap();
      default -> runForeign(arguments[0]);
    }
    if (System.getenv("KERNEL_RESIDENT") != null) {
      Thread.sleep(2000);
      System.out.printf(Locale.ROOT, "%.1f%n", mib(resident()));
      System.out.flush();
      Runtime.getRuntime().halt(0);
    }
    Instant ready = Instant.now();
    if (System.getenv("KERNEL_HUGE") != null) {
      printHugePages(mallometer, ready);
    }
    Optional<PinnedMemory> pinned = Optional.empty();
    for (int second = 0; second < 110 && !isNamed(pinned, ready); second++) {
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
        "| %s | %s | %s | %s | %s | %s | %.1f | %s |%n",
        arguments[0].replaceAll(".*/|[.]so$", ""),
        first,
        first.equals("none") ? "-" : first.endsWith(arguments[1]) ? "yes" : "NO",
        found.sites().isEmpty() ? "-" : percent(found.sites().get(0).share()),
        interval(found.bytes()),
        interval(found.returnableBytes()),
        mib(trim.returnedBytes()),
        found.effects().stream()
            .filter(effect -> effect.measure().equals("arenas"))
            .map(effect -> String.format(Locale.ROOT, "%.1f", mib(effect.bytes())))
            .findFirst()
            .orElse("-"));
    System.out.flush();
    Runtime.getRuntime().halt(first.equals("none") || first.endsWith(arguments[1]) ? 0 : 1);
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

  private static void printHugePages(Mallometer mallometer, Instant ready) throws Exception {
    Optional<ResidentMemory> split = mallometer.snapshot().memory().resident();
    while (split.isEmpty() || split.get().time().isBefore(ready.plusSeconds(1))) {
      Thread.sleep(500);
      split = mallometer.snapshot().memory().resident();
    }
    ResidentMemory.HugePages huge = split.get().hugePages().orElseThrow();
    System.err.println(huge);
    System.out.printf(
        Locale.ROOT, "%.1f | %.1f | %s%n", mib(resident()), mib(huge.bytes()), interval(huge.emptyBytes()));
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  /** 64 tables of 6 MiB, of which one page in 16 is written. */
  private static void sparseTables() {
    for (int i = 0; i < 64; i++) {
      long table = UNSAFE.allocateMemory(6 << 20);
      for (int at = 0; at < 6 << 20; at += 64 << 10) {
        UNSAFE.putByte(table + at, (byte) 1);
      }
      PINS.add(table);
    }
  }

  /** A heap of which half is filled and collected again. */
  private static void usedHeap() {
    byte[][] all = new byte[240][];
    for (int i = 0; i < all.length; i++) {
      all[i] = new byte[1 << 20];
      Arrays.fill(all[i], (byte) 1);
    }
  }

  private static void sleepForGood() {
    try {
      Thread.sleep(Long.MAX_VALUE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static final int THREADS = 8;

  /** Threads that allocate 20 MiB in 8 KiB, keep 64 bytes behind each 160 KiB, and stay: some at once, the rest later. */
  private static void bursts(int atOnce) throws InterruptedException {
    for (int first = 0; first < THREADS; first += atOnce) {
      CyclicBarrier full = new CyclicBarrier(atOnce);
      CountDownLatch done = new CountDownLatch(atOnce);
      for (int i = 0; i < atOnce; i++) {
        Thread thread = new Thread(() -> burst(full, done), "burst");
        thread.setDaemon(true);
        thread.start();
      }
      done.await();
    }
  }

  private static void burst(CyclicBarrier full, CountDownLatch done) {
    try {
      List<Long> gaps = new ArrayList<>();
      for (int i = 0; i < 2_560; i++) {
        gaps.add(fill(8 << 10));
        if (i % 20 == 19) {
          keep();
        }
      }
      full.await();
      gaps.forEach(UNSAFE::freeMemory);
      done.countDown();
      sleepForGood();
    } catch (InterruptedException | BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void keep() {
    long pin = pin(64);
    synchronized (PINS) {
      PINS.add(pin);
    }
  }

  /** Free memory between 3,000 objects in pieces of 1 to 200 KiB, most of them small; they grow slowly, over 3 s. */
  private static void unequalGaps() throws InterruptedException {
    Random random = new Random(2);
    List<Long> gaps = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      int bytes = (int) Math.min(100 << 10, 1024 / Math.pow(1 - random.nextDouble(), 1.0 / 1.2));
      gaps.add(fill(bytes));
      gaps.add(fill(bytes));
      PINS.add(pin(48));
      if (i % 100 == 0) {
        Thread.sleep(100);
      }
    }
    gaps.forEach(UNSAFE::freeMemory);
  }

  /** Four objects in five between free memory are those of pin, the fifth that of cached. */
  private static void twoSites() throws InterruptedException {
    List<Long> gaps = new ArrayList<>();
    for (int i = 0; i < 4000; i++) {
      gaps.add(fill(20_000));
      (i % 5 == 0 ? OTHERS : PINS).add(i % 5 == 0 ? cached(80) : pin(80));
      if (i % 100 == 0) {
        Thread.sleep(50);
      }
    }
    gaps.forEach(UNSAFE::freeMemory);
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

  private static String interval(Estimate bytes) {
    return String.format(
        Locale.ROOT, "%.1f (%.1f to %.1f)", mib(bytes.value()), mib(bytes.low()), mib(bytes.high()));
  }

  private static String percent(Estimate share) {
    return String.format(
        Locale.ROOT, "%.0f %% (%.0f to %.0f)", 100 * share.value(), 100 * share.low(), 100 * share.high());
  }

  private static double resident() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
      if (line.startsWith("Rss:")) {
        return 1024 * Double.parseDouble(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("no resident set");
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
