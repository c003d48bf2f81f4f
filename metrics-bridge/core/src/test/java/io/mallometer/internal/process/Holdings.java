package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import io.mallometer.preload.NativeWork;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * Allocates a known amount of each kind of memory in turn. After each kind, it prints the growth of
 * each part of the resident set: {@code heap: java_heap=67108864 ...}. The argument is the
 * directory of the file that it maps; without it, the program allocates nothing.
 */
final class Holdings {

  static final int MEBIBYTE = 1 << 20;
  static final int HEAP = 64 * MEBIBYTE;
  static final int DIRECT = 48 * MEBIBYTE;
  static final int SMALL_OBJECTS = 32 * MEBIBYTE;
  static final int LARGE_OBJECT = 40 * MEBIBYTE;
  static final int FILE = 24 * MEBIBYTE;
  static final int SHARED = 16 * MEBIBYTE;
  static final int FOREIGN = 64 * MEBIBYTE;
  static final int THREADS = 60;
  static final int CLASSES = 3_000;

  private static final int SMALL_OBJECT = 16 * 1024;

  private final NativeLibrary interposer = new ProcessLibrary();
  private final AtomicLong hours = new AtomicLong();
  private final ProcessMemorySource source =
      new ProcessMemorySource(
          new ProcessFiles(),
          () -> hours.getAndIncrement() * 3_600_000_000_000L,
          Pause::processorNanos);
  private final List<Object> held = new ArrayList<>();
  private final List<Long> smallObjects = new ArrayList<>();
  private ResidentMemory latest;
  private long foreign;

  private Holdings() {}

  public static void main(String[] arguments) throws Exception {
    Holdings holdings = new Holdings();
    // Allocating memory and splitting the resident set load classes at first, which must not count
    // as
    // allocated memory.
    NativeWork.freeMemory(allocate(1));
    for (int i = 0; i < 6; i++) {
      holdings.latest = holdings.split();
    }
    if (arguments.length > 0) {
      holdings.holdEachKind(Path.of(arguments[0]));
    }
    holdings.printAll();
  }

  private void holdEachKind(Path directory) throws Exception {
    hold("heap", () -> held.add(new byte[HEAP]));
    hold("direct", () -> held.add(ByteBuffer.allocateDirect(DIRECT)));
    hold("small objects", this::takeSmallObjects);
    hold("large object", () -> allocate(LARGE_OBJECT));
    hold("freed", this::freeSmallObjects);
    hold("hidden object", this::takeHiddenObject);
    hold("file", () -> held.add(map(directory.resolve("file"), FILE)));
    hold("shared", () -> held.add(map(Path.of("/dev/shm"), SHARED)));
    hold("threads", Holdings::startThreads);
    hold("foreign", () -> foreign = Neighbours.foreign(FOREIGN));
    Neighbours.unmap(foreign, FOREIGN);
    Neighbours.besideMetaspace();
    latest = split();
    hold("classes", this::defineClasses);
  }

  private void printAll() {
    print("all", latest.parts());
    System.out.println("total=" + latest.totalBytes());
    printPools("code", pool -> pool.startsWith("Code"));
    System.out.println("tracking=" + latest.nativeMemoryTracking() + " by=" + latest.decidedBy());
    System.out.printf("cost=%.6f s, mappings=%d%n", latest.costSeconds(), latest.mappings());
  }

  /**
   * Prints the sums over some of the JVM's memory pools: {@code code: used=1000000
   * committed=2000000}.
   */
  private static void printPools(String name, Predicate<String> pool) {
    List<MemoryUsage> usages =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(bean -> pool.test(bean.getName()))
            .map(MemoryPoolMXBean::getUsage)
            .toList();
    System.out.printf(
        "%s: used=%d committed=%d%n",
        name,
        usages.stream().mapToLong(MemoryUsage::getUsed).sum(),
        usages.stream().mapToLong(MemoryUsage::getCommitted).sum());
  }

  @FunctionalInterface
  private interface Holding {
    void take() throws Exception;
  }

  private void hold(String kind, Holding holding) throws Exception {
    Map<ResidentPart, Long> before = latest.parts();
    holding.take();
    latest = split();
    Map<ResidentPart, Long> growth = new EnumMap<>(ResidentPart.class);
    latest
        .parts()
        .forEach((part, bytes) -> growth.put(part, bytes - before.getOrDefault(part, 0L)));
    print(kind, growth);
  }

  private ResidentMemory split() {
    return source
        .read(() -> interposer.read(Instant.EPOCH), OptionalLong.empty(), this::ranges)
        .resident()
        .orElseThrow();
  }

  private List<MappedRange> ranges() {
    boolean counts = interposer.read(Instant.EPOCH).status().active();
    return counts ? interposer.mappedRanges() : List.of();
  }

  private static void print(String kind, Map<ResidentPart, Long> bytes) {
    StringBuilder line = new StringBuilder(kind).append(':');
    for (ResidentPart part : ResidentPart.values()) {
      if (bytes.containsKey(part)) {
        line.append(' ').append(part.tag()).append('=').append(bytes.get(part));
      }
    }
    System.out.println(line);
  }

  private void takeSmallObjects() {
    for (int i = 0; i < SMALL_OBJECTS / SMALL_OBJECT; i++) {
      smallObjects.add(allocate(SMALL_OBJECT));
    }
  }

  /** Allocates an object, and maps memory below it. The kernel shows both as one mapping. */
  private void takeHiddenObject() {
    Neighbours.below(allocate(LARGE_OBJECT));
  }

  /**
   * Frees all objects but the last one, which keeps the allocator from returning the end of its
   * heap.
   */
  private void freeSmallObjects() {
    for (int i = 0; i < smallObjects.size() - 1; i++) {
      NativeWork.freeMemory(smallObjects.get(i));
    }
  }

  private static long allocate(long bytes) {
    long address = NativeWork.allocateMemory(bytes);
    NativeWork.fill(address, bytes);
    return address;
  }

  private static MappedByteBuffer map(Path place, int bytes) throws IOException {
    Path file = Files.isDirectory(place) ? Files.createTempFile(place, "holdings", "") : place;
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE)) {
      MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
      for (int i = 0; i < bytes; i += 4096) {
        mapped.put(i, (byte) 1);
      }
      return mapped;
    }
  }

  private static void startThreads() throws InterruptedException {
    CountDownLatch deep = new CountDownLatch(THREADS);
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(() -> descend(2_000, deep));
      thread.setDaemon(true);
      thread.start();
    }
    deep.await();
  }

  private static long descend(int levels, CountDownLatch deep) {
    if (levels == 0) {
      deep.countDown();
      try {
        Thread.sleep(Long.MAX_VALUE);
      } catch (InterruptedException e) {
        return 0;
      }
    }
    return 1 + descend(levels - 1, deep);
  }

  private void defineClasses() throws Exception {
    byte[] code;
    try (InputStream in = Holdings.class.getResourceAsStream("Holdings$Template.class")) {
      code = in.readAllBytes();
    }
    for (int i = 0; i < CLASSES; i++) {
      held.add(MethodHandles.lookup().defineHiddenClass(code, true).lookupClass());
    }
  }

  /**
   * The class that is defined many times. Its methods make the metadata large enough to measure.
   */
  static final class Template {
    int some(int a) {
      return a * 31 + other(a, a >> 3) - more(a);
    }

    int other(int a, int b) {
      return a == b ? a : a + b;
    }

    int more(int a) {
      return String.valueOf(a).length() + Integer.toHexString(a).hashCode();
    }
  }
}
