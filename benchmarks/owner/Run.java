package io.mallometer.benchmarks.owner;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import io.mallometer.Mallometer;
import io.mallometer.benchmarks.owner.Kernels.Kernel;
import io.mallometer.model.CallSite;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.OwnerReport.Holding;
import io.mallometer.model.OwnerReport.Outlook;
import io.mallometer.model.OwnerReport.Way;
import io.mallometer.model.OwnerReport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.lang.ref.SoftReference;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Runs all kernels (see {@link Kernels}) and lets mallometer search for the owner of each kernel's
 * memory. Prints one of four results for each kernel:
 *
 * <ul>
 * <li>{@code right}: the search names the owner;
 * <li>{@code wrong}: the search names another owner;
 * <li>{@code missed}: the search names no owner;
 * <li>{@code out}: the JVM lacks a feature that the kernel needs, or a collection has already freed
 * the memory.
 * </ul>
 *
 * <p>Arguments: the names of the kernels to run, or none to run all; {@code -v} prints the answers.
 */
public final class Run {

  private static final OwnerBudget ANY =
      new OwnerBudget(Duration.ofMinutes(2), Duration.ofMinutes(10));
  private static final int LINKS = 8;

  private Run() {}

  public static void main(String[] arguments) {
    List<String> wanted = new ArrayList<>(List.of(arguments));
    boolean verbose = wanted.remove("-v");
    int bad = 0;
    try (Mallometer mallometer = Mallometer.open()) {
      sites(mallometer); // the first reading enables Java frames in later stacks
      List<Kernel> planted = new ArrayList<>();
      for (Kernel kernel : Kernels.ALL) {
        String name = kernel.name();
        if (wanted.isEmpty() || wanted.contains(name)) {
          try {
            kernel.plant();
            planted.add(kernel);
          } catch (Throwable e) {
            System.out.printf("%-16s out     %s%n", name, e);
          }
        }
      }
      for (Kernel kernel : planted) {
        bad += verdict(mallometer, kernel, verbose) ? 0 : 1;
      }
    }
    System.exit(bad == 0 ? 0 : 1);
  }

  private static boolean verdict(Mallometer mallometer, Kernel kernel, boolean verbose) {
    String name = kernel.name();
    Optional<CallSite> site = site(mallometer, kernel.getClass().getName());
    if (site.isEmpty()) {
      System.out.printf("%-16s missed  no call site%n", name);
      return false;
    }
    OwnerReport report = mallometer.leaks().owners(site.get().number(), LINKS, ANY);
    if (report.samples() == 0 && kernel.holding == Holding.GARBAGE) {
      System.out.printf("%-16s out     a collection has freed it already%n", name);
      return true;
    }
    boolean right = isRight(kernel, report);
    System.out.printf(
        "%-16s %-7s %s%n",
        name, right ? "right" : names(report) ? "wrong" : "missed", report.explanation());
    if (verbose || !right) {
      System.out.println(
          "    "
              + site.get().name()
              + ", "
              + report.samples()
              + " samples, pauses "
              + report.pauses());
      report.ways().forEach(way -> System.out.println("    " + way));
      report.remarks().forEach(line -> System.out.println("    " + line));
    }
    return right;
  }

  static List<CallSite> sites(Mallometer mallometer) {
    try (Mallometer.CloseLook look = mallometer.sites().closely()) {
      return look.read().sites();
    }
  }

  /** Returns the call site with the most live bytes among those whose stacks contain the class. */
  static Optional<CallSite> site(Mallometer mallometer, String className) {
    return sites(mallometer).stream()
        .filter(
            site -> site.frames().stream().anyMatch(frame -> frame.toString().contains(className)))
        .max(Comparator.comparingDouble(site -> site.liveBytes().value()));
  }

  private static boolean isRight(Kernel kernel, OwnerReport report) {
    if (report.ways().isEmpty()) {
      return false;
    }
    Way first = report.ways().get(0);
    String all =
        first.holder() + (first.paths().isEmpty() ? "" : " <- " + first.paths().get(0).text());
    return first.holding() == kernel.holding && kernel.words.stream().allMatch(all::contains);
  }

  private static boolean names(OwnerReport report) {
    return !report.ways().isEmpty() && report.ways().get(0).holding() == Holding.KEPT;
  }

  /**
   * Fills the heap with small objects, and searches for owners twice. Prints the estimated and the
   * measured pauses of each search, in seconds. The first estimate cannot use an earlier
   * measurement. Argument: the MiB to fill.
   */
  public static final class Pauses {

    private static final OwnerBudget ANY =
        new OwnerBudget(Duration.ofMinutes(5), Duration.ofMinutes(30));
    private static final int BLOCKS = 100;
    private static final Map<String, Order> ORDERS = new HashMap<>();
    private static final List<Handle> HANDLES = new ArrayList<>();

    private record Handle(long address) {}

    private record Order(String id, byte[] payload, long[] times, Order before) {}

    private Pauses() {}

    public static void main(String[] arguments) {
      long wanted = Long.parseLong(arguments[0]) << 20;
      fill(wanted);
      try (Mallometer mallometer = Mallometer.open()) {
        sites(mallometer);
        for (int i = 0; i < BLOCKS; i++) {
          HANDLES.add(new Handle(Native.malloc(40_000)));
        }
        System.gc();
        Outlook outlook = mallometer.leaks().ownerOutlook();
        CallSite site =
            site(mallometer, Pauses.class.getName())
                .orElseThrow(() -> new IllegalStateException("no call site"));
        OwnerReport first = mallometer.leaks().owners(site.number(), 2, ANY);
        Outlook after = mallometer.leaks().ownerOutlook();
        OwnerReport second = mallometer.leaks().owners(site.number(), 0, ANY);
        System.out.println(
            String.format(
                Locale.ROOT,
                "%d MiB used | %.2f s | %s | %.2f s | %s",
                (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20,
                outlook.pauseSeconds(),
                seconds(first.pauses()),
                after.pauseSeconds(),
                seconds(second.pauses())));
      }
    }

    private static String seconds(List<Double> pauses) {
      return String.join(
          ", ", pauses.stream().map(pause -> String.format(Locale.ROOT, "%.2f", pause)).toList());
    }

    /**
     * Fills the heap with objects of about 42 bytes that contain random numbers and no native
     * addresses.
     */
    private static void fill(long bytes) {
      Random random = new Random(1);
      Order before = null;
      int number = 0;
      while (used() < bytes) {
        for (int i = 0; i < 10_000; i++) {
          byte[] payload = new byte[16];
          random.nextBytes(payload);
          Order order =
              new Order("order-" + number++, payload, new long[] {random.nextLong()}, before);
          ORDERS.put(order.id(), order);
          before = number % 16 == 0 ? null : order;
        }
      }
    }

    private static long used() {
      return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
  }
}

/** Pieces of programs, each of which keeps native memory in a known way. A new one must be named in {@link #ALL}. */
final class Kernels {

  static final List<Kernel> ALL =
      List.of(
          new StaticCache(),
          new ThreadLocals(),
          new Listeners(),
          new LostInC(),
          new QueuedPool(),
          new NettyChunks(),
          new ForeignArenas(),
          new RocksBatches(),
          new ZstdContexts(),
          new SqliteConnections(),
          new Forgotten(),
          new ShutdownHooks(),
          new WeakKeys(),
          new SoftCache(),
          new NeverCompleted(),
          new StuckRequests(),
          new Unclosed(),
          new LiveThreads());

  private Kernels() {}

  /**
   * A piece of a program that keeps native memory in a known way. It allocates at least 100 blocks
   * of 8 KiB or more, all in {@link #plant}. The subclass of {@code Kernel} is then in the stacks
   * of the blocks and identifies their call site.
   */
  abstract static class Kernel {
    /** The way in which the memory is held. The first entry of the owner report must state it. */
    final Holding holding;

    /**
     * Words that must be in the first entry of the owner report: in the name of the holder (the
     * Java field with the memory's address), or in the first path of references to the holder. An
     * example is {@code static ReportCache.open}. The list is empty if the memory has no holder.
     */
    final List<String> words;

    Kernel(Holding holding, String... words) {
      this.holding = holding;
      this.words = List.of(words);
    }

    final String name() {
      return getClass().getSimpleName();
    }

    /**
     * Allocates the memory. Memory that stays reachable must be held by a static field, a thread or
     * another owner, not by a field of this object.
     *
     * @throws Exception if the JVM lacks a feature that this {@link Kernel} needs; {@link Run} then
     *     skips it
     */
    abstract void plant() throws Exception;
  }

  /**
   * Keeps deflaters in a static list and never ends them. Java refers to the z_stream, which refers
   * to zlib's windows.
   */
  static final class StaticCache extends Kernel {
    private static final List<Deflater> OPEN = new ArrayList<>();

    StaticCache() {
      super(
          Holding.KEPT,
          "DeflaterZStreamRef.address",
          "Deflater.zsRef",
          "static Kernels$StaticCache.OPEN");
    }

    @Override
    void plant() {
      byte[] out = new byte[256];
      for (int i = 0; i < 200; i++) {
        Deflater deflater = new Deflater();
        deflater.setInput(new byte[5_000]);
        deflater.finish();
        deflater.deflate(out);
        OPEN.add(deflater);
      }
    }
  }

  static final class ThreadLocals extends Kernel {
    private static final ThreadLocal<ByteBuffer> SCRATCH = new ThreadLocal<>();
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    ThreadLocals() {
      super(Holding.KEPT, "DirectByteBuffer.address", "ThreadLocal", "live thread");
    }

    @Override
    void plant() throws InterruptedException {
      for (int i = 0; i < 100; i++) {
        CountDownLatch ready = new CountDownLatch(1);
        Thread worker = new Thread(() -> work(ready), "kernel-worker-" + i);
        worker.setDaemon(true);
        worker.start();
        ready.await();
      }
    }

    private static void work(CountDownLatch ready) {
      SCRATCH.set(ByteBuffer.allocateDirect(64 << 10));
      ready.countDown();
      try {
        NEVER.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  static final class Listeners extends Kernel {
    private static final List<Consumer<String>> SUBSCRIBED = new CopyOnWriteArrayList<>();

    private record Listener(Memory memory) implements Consumer<String> {
      @Override
      public void accept(String event) {
        memory.setString(0, event);
      }
    }

    Listeners() {
      super(Holding.KEPT, "Memory.peer", "Listener.memory", "static Kernels$Listeners.SUBSCRIBED");
    }

    @Override
    void plant() {
      for (int i = 0; i < 200; i++) {
        SUBSCRIBED.add(new Listener(new Memory(20_000)));
      }
    }
  }

  static final class LostInC extends Kernel {
    LostInC() {
      super(Holding.NOBODY);
    }

    @Override
    void plant() {
      for (int i = 0; i < 200; i++) {
        Native.malloc(12_000);
      }
    }
  }

  /** Keeps idle buffers in the queue of a pool. The queue refers to slices of the buffers. */
  static final class QueuedPool extends Kernel {
    private static final QueuedPool POOL = new QueuedPool();

    private final Queue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

    QueuedPool() {
      super(
          Holding.KEPT,
          "DirectByteBuffer.address",
          "ConcurrentLinkedQueue",
          "static Kernels$QueuedPool.POOL");
    }

    @Override
    void plant() {
      for (int i = 0; i < 200; i++) {
        POOL.idle.add(ByteBuffer.allocateDirect(32 << 10).position(8).slice());
      }
    }
  }

  /**
   * Takes buffers from a pool of Netty and never releases them. The buffers are slices of the
   * pool's chunks.
   */
  static final class NettyChunks extends Kernel {
    private static final List<ByteBuf> UNRELEASED = new ArrayList<>();

    NettyChunks() {
      super(Holding.KEPT, "static Kernels$NettyChunks.UNRELEASED");
    }

    @Override
    void plant() {
      PooledByteBufAllocator pool = new PooledByteBufAllocator(true);
      for (int i = 0; i < 120; i++) {
        UNRELEASED.add(pool.directBuffer(1 << 20));
      }
    }
  }

  /**
   * Creates an arena of the foreign-function interface for each request and never closes it. Uses
   * reflection, because this class is compiled for JDK 17.
   */
  static final class ForeignArenas extends Kernel {
    private static final Map<String, Object> SEGMENTS = new ConcurrentHashMap<>();

    ForeignArenas() {
      super(Holding.KEPT, "static Kernels$ForeignArenas.SEGMENTS");
    }

    @Override
    void plant() throws ReflectiveOperationException {
      Class<?> arenas = Class.forName("java.lang.foreign.Arena");
      for (int i = 0; i < 150; i++) {
        Object arena = arenas.getMethod("ofShared").invoke(null);
        SEGMENTS.put(
            "request-" + i,
            arenas.getMethod("allocate", long.class, long.class).invoke(arena, 40_000L, 8L));
      }
    }
  }

  /**
   * Creates batches of RocksDB and never closes them. A batch is a handle to a C++ object that has
   * the data in a string.
   */
  static final class RocksBatches extends Kernel {
    private static final Queue<WriteBatch> PENDING = new ArrayDeque<>();

    RocksBatches() {
      super(Holding.KEPT, "WriteBatch.nativeHandle_", "static Kernels$RocksBatches.PENDING");
    }

    @Override
    void plant() throws RocksDBException {
      RocksDB.loadLibrary();
      for (int i = 0; i < 150; i++) {
        WriteBatch batch = new WriteBatch();
        batch.put(new byte[] {(byte) i}, new byte[20_000]);
        PENDING.add(batch);
      }
    }
  }

  static final class ZstdContexts extends Kernel {
    private static final Map<Integer, ZstdCompressCtx> BY_TENANT = new HashMap<>();

    ZstdContexts() {
      super(Holding.KEPT, "nativePtr", "static Kernels$ZstdContexts.BY_TENANT");
    }

    @Override
    void plant() {
      for (int i = 0; i < 120; i++) {
        ZstdCompressCtx context = new ZstdCompressCtx();
        context.setLevel(1);
        context.compress(new byte[5_000]);
        BY_TENANT.put(i, context);
      }
    }
  }

  /** Opens connections of SQLite and never closes them. Most of their memory is in page caches. */
  static final class SqliteConnections extends Kernel {
    private static final List<Connection> OPEN = new ArrayList<>();

    SqliteConnections() {
      super(Holding.KEPT, "static Kernels$SqliteConnections.OPEN");
    }

    @Override
    void plant() throws SQLException {
      for (int i = 0; i < 100; i++) {
        Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
        try (Statement statement = connection.createStatement()) {
          statement.execute("create table t(x)");
        }
        OPEN.add(connection);
      }
    }
  }

  /**
   * Drops direct buffers. The program allocates little on the heap, so no collection frees the
   * buffers.
   */
  static final class Forgotten extends Kernel {
    Forgotten() {
      super(Holding.GARBAGE, "DirectByteBuffer");
    }

    @Override
    void plant() {
      for (int i = 0; i < 200; i++) {
        ByteBuffer.allocateDirect(16 << 10).putInt(0, i);
      }
    }
  }

  /**
   * Registers a shutdown hook for each spool and never removes it. The hook refers to the spool, and only the JDK's
   * table of hooks refers to the hook.
   */
  static final class ShutdownHooks extends Kernel {
    private record Spool(Memory pages) {
      void flush() {
        pages.setByte(0, (byte) 1);
      }
    }

    ShutdownHooks() {
      super(Holding.KEPT, "Memory.peer", "Spool.pages", "static ApplicationShutdownHooks.hooks");
    }

    @Override
    void plant() {
      for (int i = 0; i < 200; i++) {
        Spool spool = new Spool(new Memory(24_000));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> spool.flush(), "spool-" + i));
      }
    }
  }

  /**
   * Keeps codecs in a weak map that never drops an entry, because each value refers to its key. A
   * codec has a {@code ZstdCompressCtx}, which refers to zstd's native context. The native context
   * refers to zstd's tables.
   */
  static final class WeakKeys extends Kernel {
    private static final Map<Connection, Codec> CODECS = new WeakHashMap<>();

    private record Codec(Connection connection, ZstdCompressCtx context) {}

    private static final class Connection {
      private final int number;

      private Connection(int number) {
        this.number = number;
      }

      @Override
      public String toString() {
        return "connection " + number;
      }
    }

    WeakKeys() {
      super(
          Holding.KEPT,
          "ZstdCompressCtx.nativePtr",
          "Codec.context",
          "static Kernels$WeakKeys.CODECS");
    }

    @Override
    void plant() {
      byte[] message = new byte[20_000];
      new Random(1).nextBytes(message);
      for (int i = 0; i < 150; i++) {
        Connection connection = new Connection(i);
        ZstdCompressCtx context = new ZstdCompressCtx();
        context.compress(message);
        CODECS.put(connection, new Codec(connection, context));
      }
    }
  }

  /**
   * Keeps inflaters that have read half of their input. A cache refers to the inflaters by soft
   * references, which the JVM does not clear, because the heap is idle. Most native bytes are in
   * zlib's window. The inflater refers to the z_stream, the z_stream to the state, and the state to
   * the window.
   */
  static final class SoftCache extends Kernel {
    private static final Map<String, SoftReference<Inflater>> OPEN_PAGES = new HashMap<>();

    SoftCache() {
      super(
          Holding.SOFTLY,
          "InflaterZStreamRef.address",
          "Inflater.zsRef",
          "static Kernels$SoftCache.OPEN_PAGES");
    }

    @Override
    void plant() throws DataFormatException {
      byte[] page = compressed();
      byte[] beginning = new byte[5_000];
      for (int i = 0; i < 200; i++) {
        Inflater inflater = new Inflater();
        inflater.setInput(page);
        inflater.inflate(beginning);
        OPEN_PAGES.put("page " + i, new SoftReference<>(inflater));
      }
    }

    private static byte[] compressed() {
      byte[] page = new byte[60_000];
      for (int i = 0; i < page.length; i++) {
        page[i] = (byte) (i * i >> 5);
      }
      Deflater deflater = new Deflater();
      try {
        deflater.setInput(page);
        deflater.finish();
        byte[] result = new byte[80_000];
        deflater.deflate(result);
        return result;
      } finally {
        deflater.end();
      }
    }
  }

  /**
   * Sends requests whose replies never come. A table refers to a future, and the future to an
   * action. The action refers to a memory segment and an arena, and both have the native address.
   * The class uses the foreign-memory API of JDK 22 by reflection, because it is compiled for JDK
   * 17.
   */
  static final class NeverCompleted extends Kernel {
    private static final Map<Long, CompletableFuture<String>> AWAITED = new ConcurrentHashMap<>();

    NeverCompleted() {
      super(Holding.KEPT, "CompletableFuture", "static Kernels$NeverCompleted.AWAITED");
    }

    @Override
    void plant() throws ReflectiveOperationException {
      if (Runtime.version().feature() < 22) {
        throw new UnsupportedOperationException("no foreign memory before JDK 22");
      }
      Class<?> arenas = Class.forName("java.lang.foreign.Arena");
      Method shared = arenas.getMethod("ofShared");
      Method allocate = arenas.getMethod("allocate", long.class, long.class);
      for (long i = 0; i < 200; i++) {
        AutoCloseable arena = (AutoCloseable) shared.invoke(null);
        Object segment = allocate.invoke(arena, 30_000L, 8L);
        CompletableFuture<String> reply = new CompletableFuture<>();
        reply.thenAccept(text -> finish(text, segment, arena));
        AWAITED.put(i, reply);
      }
    }

    private static void finish(String text, Object segment, AutoCloseable arena) {
      try {
        System.out.println(text + " for " + segment);
        arena.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * Starts threads that wait for a service that never answers. Each thread refers to its request by
   * a local variable alone, which is used after the wait.
   */
  static final class StuckRequests extends Kernel {
    private static final CountDownLatch ANSWER = new CountDownLatch(1);

    private record Request(ByteBuffer body) {}

    StuckRequests() {
      super(Holding.LOCAL_VARIABLE, "DirectByteBuffer.address", "Request.body");
    }

    @Override
    void plant() throws InterruptedException {
      int threads = 100;
      CountDownLatch waiting = new CountDownLatch(threads);
      for (int i = 0; i < threads; i++) {
        Thread thread = new Thread(() -> serve(waiting), "http-" + i);
        thread.setDaemon(true);
        thread.start();
      }
      waiting.await();
    }

    private static void serve(CountDownLatch waiting) {
      Request request = new Request(ByteBuffer.allocateDirect(48_000));
      waiting.countDown();
      try {
        ANSWER.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      request.body().put(0, (byte) 1);
    }
  }

  /**
   * Fills a table with RocksDB's batches, and replaces the table without closing the batches. The
   * batches are then garbage. Nothing frees their native memory, because RocksDB has no cleaners. A
   * native batch refers to the characters of a string, which begin 24 bytes after the start of a
   * malloc block.
   *
   * <p>The table is so large that G1 allocates it in the old generation. The old table and its
   * batches therefore stay until G1's next marking. Afterwards no reference to the native memory is
   * left.
   */
  static final class Unclosed extends Kernel {
    private static final int SLOTS = 1 << 20;

    private static WriteBatch[] table = new WriteBatch[SLOTS];

    Unclosed() {
      super(Holding.UNREACHABLE, "nativeHandle_");
    }

    @Override
    void plant() throws RocksDBException {
      RocksDB.loadLibrary();
      byte[] key = {1, 2, 3};
      byte[] value = new byte[18_000];
      for (int i = 0; i < 200; i++) {
        WriteBatch batch = new WriteBatch();
        batch.put(key, value);
        table[i] = batch;
      }
      table = new WriteBatch[SLOTS];
    }
  }

  /**
   * Starts threads that wait. A Thread object has the address of its native structure in the JVM.
   */
  static final class LiveThreads extends Kernel {
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    LiveThreads() {
      super(Holding.KEPT, "Thread.eetop");
    }

    @Override
    void plant() {
      for (int i = 0; i < 150; i++) {
        Thread thread = new Thread(LiveThreads::await);
        thread.setDaemon(true);
        thread.start();
      }
    }

    private static void await() {
      try {
        NEVER.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
