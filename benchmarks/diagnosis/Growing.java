import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import sun.misc.Unsafe;

/** Programs whose memory grows in one known way. */
@SuppressWarnings({"deprecation", "removal"})
final class Growing {
  private static final int MIB = 1 << 20;
  private static final int PAGE = 4096;
  private static final Unsafe UNSAFE = Situation.UNSAFE;

  private static final List<Object> KEPT = new ArrayList<>();

  private Growing() {}

  /** Starts five threads a second that never end. */
  static void threads() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    while (true) {
      RepairTask.execute(never);
      Thread.sleep(200);
    }
  }

  /** A task that waits for an event that never comes. */
  static final class RepairTask {
    static void execute(CountDownLatch event) {
      Thread thread = new Thread(() -> await(event));
      thread.setDaemon(true);
      thread.start();
      Situation.Planted.add("count:threads", 1);
    }

    private static void await(CountDownLatch event) {
      try {
        event.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Allocates small objects on 32 threads, a few more each time, and frees all of them every 15 s. */
  static void bursts() throws InterruptedException {
    CyclicBarrier together = new CyclicBarrier(32);
    for (int i = 0; i < 32; i++) {
      Thread thread = new Thread(() -> burst(together));
      thread.setDaemon(true);
      thread.start();
    }
    Thread.currentThread().join();
  }

  private static void burst(CyclicBarrier together) {
    try {
      for (int round = 1; ; round++) {
        together.await();
        long[] objects = new long[2_000 * round];
        for (int i = 0; i < objects.length; i++) {
          objects[i] = UNSAFE.allocateMemory(80);
          UNSAFE.putLong(objects[i], i);
        }
        for (long object : objects) {
          UNSAFE.freeMemory(object);
        }
        Thread.sleep(15_000);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Appends 100 KiB a second to a buffer that is doubled by realloc. */
  static void realloc() throws InterruptedException {
    long capacity = 256 << 10;
    long address = UNSAFE.allocateMemory(capacity);
    Situation.Planted.add("site:Growing.realloc", capacity);
    long size = 0;
    while (true) {
      for (int i = 0; i < 25; i++, size += PAGE) {
        if (size + PAGE > capacity) {
          Situation.Planted.add("site:Growing.realloc", capacity);
          capacity *= 2;
          address = UNSAFE.reallocateMemory(address, capacity);
        }
        UNSAFE.setMemory(address + size, PAGE, (byte) i);
      }
      Thread.sleep(1_000);
    }
  }

  /** 80 threads of four pools lose objects of six kinds, 12 MiB a minute together, and fill three caches by 14 MiB a minute, which are read. */
  static void manyLeaks() throws InterruptedException {
    List<ScheduledExecutorService> pools = new ArrayList<>();
    for (String name : List.of("http", "jobs", "mail", "index")) {
      AtomicInteger number = new AtomicInteger();
      ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(20, task -> new Thread(task, name + "-" + number.getAndIncrement()));
      pool.prestartAllCoreThreads();
      pools.add(pool);
    }
    List<Runnable> tasks =
        List.of(
            () -> Lost.session(1 << 10), () -> Lost.header(4 << 10), () -> Lost.page(16 << 10), () -> Lost.image(20 << 10),
            () -> Lost.chunk(64 << 10), () -> Lost.file(256 << 10), Cached.USERS::add, Cached.ORDERS::add, Cached.PRICES::add);
    int[] perMinute = {2048, 512, 128, 102, 32, 8, 150, 150, 150};
    for (int i = 0; i < perMinute.length; i++) {
      pools.get(i % 4).scheduleAtFixedRate(tasks.get(i), 1_000, 60_000_000 / perMinute[i], TimeUnit.MICROSECONDS);
    }
    Thread.currentThread().join();
  }

  /** Loses memory, a site for each kind. */
  private static final class Lost {
    static void session(int bytes) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Lost.session", bytes);
    }

    static void header(int bytes) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Lost.header", bytes);
    }

    static void page(int bytes) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Lost.page", bytes);
    }

    static void image(int bytes) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Lost.image", bytes);
    }

    static void chunk(int bytes) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Lost.chunk", bytes);
    }

    static void file(int bytes) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Lost.file", bytes);
    }
  }

  /** A cache that is read and never bounded. */
  private static final class Cached {
    static final Cached USERS = new Cached();
    static final Cached ORDERS = new Cached();
    static final Cached PRICES = new Cached();

    private static final int ENTRY = 32 << 10;

    private final List<ByteBuffer> entries = new ArrayList<>();

    synchronized void add() {
      ByteBuffer entry = ByteBuffer.allocateDirect(ENTRY);
      for (int at = 0; at < ENTRY; at += PAGE) {
        entry.put(at, (byte) 1);
      }
      entries.add(entry);
      entries.forEach(one -> one.put(0, (byte) (one.get(0) + 1)));
      Situation.Planted.add("site:Cached.add", ENTRY);
    }
  }

  /** Holds 240 MiB, and loses 10 MiB a minute. */
  static void nearLimit() throws InterruptedException {
    for (int i = 0; i < 240; i++) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(MIB), MIB, (byte) 1);
    }
    while (true) {
      Uploads.receive();
      Thread.sleep(384);
    }
  }

  /** Receives a part of an upload and loses its memory. */
  private static final class Uploads {
    static void receive() {
      int bytes = 64 << 10;
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Uploads.receive", bytes);
    }
  }

  /**
   * A service that processes streams: 400 MiB outside of the heap from the start, and a heap that grows by 70 MiB a minute towards its
   * maximum of 1 GiB.
   */
  static void streams() throws InterruptedException {
    for (int i = 0; i < 400; i++) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(MIB), MIB, (byte) 1);
    }
    ArrayDeque<byte[]> state = new ArrayDeque<>();
    while (true) {
      state.add(new byte[256 << 10]);
      if (state.size() > 3_000) {
        state.remove();
      }
      KEPT.clear();
      KEPT.add(new byte[256 << 10]);
      Thread.sleep(214);
    }
  }

  /** Maps a file and reads 30 MiB more of it each minute. */
  static void readOnlyMapping(Path file) throws Exception {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(MIB);
      for (int i = 0; i < 400; i++) {
        buffer.clear();
        channel.write(buffer, (long) i * MIB);
      }
      MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 400L * MIB);
      int sum = 0;
      for (int at = 0; ; at = (at + PAGE) % mapped.capacity()) {
        sum += mapped.get(at);
        if (at / PAGE % 64 == 0) {
          Situation.Planted.add("file:" + file.getFileName(), MIB / 4);
          Thread.sleep(500);
        }
        if (sum == Integer.MIN_VALUE) {
          System.out.println(sum);
        }
      }
    }
  }

  /** Defines a class by a loader of its own ten times a second and keeps an instance and 10 KiB. */
  static void classes() throws Exception {
    byte[] code;
    try (InputStream in = Growing.class.getResourceAsStream("Growing$Script.class")) {
      code = in.readAllBytes();
    }
    while (true) {
      KEPT.add(new Loader().define(code).getDeclaredConstructor().newInstance());
      Situation.Planted.add("count:classes", 1);
      Thread.sleep(100);
    }
  }

  private static final class Loader extends ClassLoader {
    Class<?> define(byte[] code) {
      return defineClass(null, code, 0, code.length);
    }
  }

  /** A script that was compiled. */
  public static final class Script {
    final byte[] result = new byte[10 << 10];
  }
}
