package io.mallometer.preload;

import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Memory;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.StackFrame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteOptions;

/**
 * An application that allocates native memory in each way that Java programs use. Each way has its
 * own method, and the call sites should have the name of that method.
 */
public final class RealLibraries {

  static final String PACKAGE = "io.mallometer.preload";

  private static final int MIB = 1 << 20;

  private static final double MIXED_BYTES = 980 * 30_000 + 20 * MIB;

  private static final long SEED = 20_260_101;

  private static final List<Object> held = new ArrayList<>();
  private static final StringBuilder report = new StringBuilder();

  private interface Work<T> {
    T run() throws Throwable;
  }

  enum Kind {
    SQLITE("libsqlitejdbc.so", "sqliteTable", RealLibraries::sqliteTable),
    ZSTD("libzstd-jni.so", "zstdContexts", RealLibraries::zstdContexts),
    ROCKSDB("librocksdbjni.so", "rocksdbWrites", RealLibraries::rocksdbWrites),
    DEFLATER("libz.so.1|libzip.so", "deflaters", RealLibraries::deflaters),
    INFLATER("libz.so.1|libzip.so", "inflaters", RealLibraries::inflaters),
    JNA("\\[java]", "jnaMemory", RealLibraries::jnaMemory, 50_950_000),
    DIRECT("libjvm.so", "directBuffers", RealLibraries::directBuffers, MIXED_BYTES),
    UNSAFE("libjvm.so", "unsafeMemory", RealLibraries::unsafeMemory, MIXED_BYTES),
    NETTY_POOLED("libjvm.so|\\[java]", "nettyPooled", RealLibraries::nettyPooled),
    NETTY_UNPOOLED(
        "libjvm.so|\\[java]", "nettyUnpooled", RealLibraries::nettyUnpooled, MIXED_BYTES),
    LAMBDA("libjvm.so", "lambda$inLambda", RealLibraries::inLambda, 30_000_000),
    VIRTUAL_THREAD(
        "libjvm.so", "lambda$inVirtualThread", RealLibraries::inVirtualThread, 30_000_000),
    HOT_LOOP("libjvm.so", "hotLoop", RealLibraries::inHotLoop, 30_000_000);

    /**
     * The pattern of the libraries' file names. Some JDKs contain zlib, and others use the
     * system's.
     */
    final String libraries;

    final String frame;
    final Work<?> work;

    /** The bytes that the application requests and keeps; NaN if the library decides. */
    final double bytes;

    Kind(String libraries, String method, Work<?> work) {
      this(libraries, method, work, Double.NaN);
    }

    Kind(String libraries, String method, Work<?> work, double bytes) {
      this.libraries = libraries;
      this.frame = RealLibraries.class.getName() + "." + method;
      this.work = work;
      this.bytes = bytes;
    }

    boolean exists() {
      return this != VIRTUAL_THREAD || Runtime.version().feature() >= 21;
    }
  }

  private RealLibraries() {}

  /**
   * Allocates memory by each {@link Kind}. For each kind it prints the estimated live bytes of all
   * sites in the kind's {@code libraries}, the bytes of sites with the application's method as
   * name, and the largest sites with other names.
   */
  public static void main(String[] arguments) throws Throwable {
    NativeLibrary library = new ProcessLibrary();
    read(library);
    for (Kind kind : Kind.values()) {
      if (kind.exists()) {
        Map<Integer, Double> before = new HashMap<>();
        read(library).sites().forEach(site -> before.put(site.number(), live(site)));
        held.add(kind.work.run());
        report(kind, before, read(library));
      }
    }
    report.append("dropped ").append(read(library).dropped()).append('\n');
    // Writes the report with one call, because the JVM writes to the same stream.
    System.out.write(report.toString().getBytes());
    System.out.flush();
    System.exit(0); // ends threads that libraries left running
  }

  private static CallSites read(NativeLibrary library) {
    return library.callSites(Instant.now(), List.of(PACKAGE));
  }

  private static double live(CallSite site) {
    return site.liveBytes().value();
  }

  private static void report(Kind kind, Map<Integer, Double> before, CallSites after) {
    double all = 0;
    double named = 0;
    double variance = 0;
    long samples = 0;
    Map<String, Double> others = new HashMap<>();
    for (CallSite site : after.sites()) {
      double growth = live(site) - before.getOrDefault(site.number(), 0.0);
      if (growth <= 0 || !isOfKind(kind, site)) {
        continue;
      }
      all += growth;
      samples += site.liveBytes().samples();
      if (site.name().equals(kind.frame)) {
        named += growth;
        variance += site.liveBytes().variance();
      } else {
        others.merge(site.name() + " " + site.frames(), growth, Double::sum);
      }
    }
    report.append(
        String.format(
            Locale.ROOT,
            "kind %s %.0f %.0f %d %.0f%n",
            kind,
            all,
            named,
            samples,
            Math.sqrt(variance)));
    others.entrySet().stream()
        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
        .limit(5)
        .forEach(
            other -> report.append(String.format("  %.0f %s%n", other.getValue(), other.getKey())));
  }

  /**
   * Leaves out sites in libjvm.so that belong to garbage collectors or to the JVM's own threads.
   */
  private static boolean isOfKind(Kind kind, CallSite site) {
    return site.library().matches(kind.libraries)
        && !(site.library().equals("libjvm.so")
            && (isOfJvmsThread(site.frames()) || isOfCollector(site.frames())));
  }

  private static boolean isOfCollector(List<StackFrame> frames) {
    return frames.stream()
        .map(StackFrame::function)
        .anyMatch(function -> function.matches("libjvm\\.so!(Z[A-Z]|G1|Parallel|PS).*::.*"));
  }

  /**
   * Returns whether a stack belongs to one of the JVM's own threads: its outermost frame is in the
   * C library, or the stack has at least five frames and its outermost frame is native.
   *
   * <p>A shorter stack with a native outermost frame may belong to a Java thread whose outer frames
   * were dropped.
   */
  private static boolean isOfJvmsThread(List<StackFrame> frames) {
    StackFrame outermost = frames.get(frames.size() - 1);
    if (frames.size() > 4 && outermost.kind() == StackFrame.Kind.NATIVE) {
      return true;
    }
    return outermost.owner().startsWith("libc.so") || outermost.owner().startsWith("libpthread.so");
  }

  // ---- The ways to allocate

  private static Connection sqliteTable() throws Exception {
    Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:");
    try (Statement statement = connection.createStatement()) {
      statement.execute("create table entry (id integer primary key, content blob)");
    }
    byte[] content = new byte[20_000];
    try (PreparedStatement insert =
        connection.prepareStatement("insert into entry (content) values (?)")) {
      for (int i = 0; i < 2_000; i++) {
        insert.setBytes(1, content);
        insert.executeUpdate();
      }
    }
    return connection;
  }

  private static List<ZstdCompressCtx> zstdContexts() {
    List<ZstdCompressCtx> contexts = new ArrayList<>();
    byte[] content = randomBytes(100_000);
    for (int i = 0; i < 40; i++) {
      ZstdCompressCtx context = new ZstdCompressCtx();
      context.setLevel(1 + i % 9);
      context.compress(content);
      contexts.add(context);
    }
    return contexts;
  }

  private static RocksDB rocksdbWrites() throws Exception {
    Path directory = Files.createTempDirectory("rocksdb");
    directory.toFile().deleteOnExit();
    RocksDB database =
        RocksDB.open(
            new Options().setCreateIfMissing(true).setWriteBufferSize(256L * MIB),
            directory.toString());
    WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
    byte[] value = randomBytes(4_000);
    for (int i = 0; i < 10_000; i++) {
      database.put(unlogged, Integer.toString(i).getBytes(), value);
    }
    return database;
  }

  private static List<Deflater> deflaters() {
    List<Deflater> deflaters = new ArrayList<>();
    byte[] content = randomBytes(1_000);
    for (int i = 0; i < 200; i++) {
      Deflater deflater = new Deflater();
      deflater.setInput(content);
      deflater.deflate(new byte[2_000]);
      deflaters.add(deflater);
    }
    return deflaters;
  }

  private static List<Inflater> inflaters() throws Exception {
    Deflater deflater = new Deflater();
    deflater.setInput(randomBytes(10_000));
    byte[] compressed = new byte[20_000];
    deflater.finish();
    int length = deflater.deflate(compressed);
    List<Inflater> inflaters = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      Inflater inflater = new Inflater();
      inflater.setInput(compressed, 0, length);
      inflater.inflate(new byte[5_000]);
      inflaters.add(inflater);
    }
    return inflaters;
  }

  private static List<Memory> jnaMemory() {
    List<Memory> memories = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      memories.add(new Memory(1_000 + i * 100));
    }
    return memories;
  }

  private static List<ByteBuffer> directBuffers() {
    List<ByteBuffer> buffers = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      buffers.add(ByteBuffer.allocateDirect(i % 50 == 0 ? MIB : 30_000));
    }
    return buffers;
  }

  private static List<Long> unsafeMemory() throws Throwable {
    List<Long> addresses = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      addresses.add((long) NativeWork.ALLOCATE.invokeExact(i % 50 == 0 ? (long) MIB : 30_000L));
    }
    return addresses;
  }

  private static List<ByteBuf> nettyPooled() {
    PooledByteBufAllocator allocator = new PooledByteBufAllocator(true);
    List<ByteBuf> buffers = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      buffers.add(allocator.directBuffer(30_000));
    }
    return buffers;
  }

  private static List<ByteBuf> nettyUnpooled() {
    List<ByteBuf> buffers = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      buffers.add(UnpooledByteBufAllocator.DEFAULT.directBuffer(i % 50 == 0 ? MIB : 30_000));
    }
    return buffers;
  }

  private static List<Long> inLambda() throws Throwable {
    Work<List<Long>> lambda =
        () -> {
          List<Long> addresses = new ArrayList<>();
          for (int i = 0; i < 500; i++) {
            addresses.add((long) NativeWork.ALLOCATE.invokeExact(60_000L));
          }
          return addresses;
        };
    return lambda.run();
  }

  private static List<Long> inVirtualThread() throws Throwable {
    List<Long> addresses = new ArrayList<>();
    Runnable work =
        () -> {
          try {
            for (int i = 0; i < 500; i++) {
              addresses.add((long) NativeWork.ALLOCATE.invokeExact(60_000L));
            }
          } catch (Throwable e) {
            throw new AssertionError(e);
          }
        };
    Thread thread =
        (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
    thread.join();
    return addresses;
  }

  private static List<Long> inHotLoop() throws Throwable {
    List<Long> addresses = new ArrayList<>();
    for (int i = 0; i < 30_000; i++) {
      addresses.add(hotLoop(1_000));
    }
    return addresses;
  }

  /**
   * Allocates an object. The method is called so often that it is compiled together with its
   * callees.
   */
  private static long hotLoop(long bytes) throws Throwable {
    NativeWork.FREE.invokeExact((long) NativeWork.ALLOCATE.invokeExact(bytes));
    return (long) NativeWork.ALLOCATE.invokeExact(bytes);
  }

  private static byte[] randomBytes(int count) {
    byte[] bytes = new byte[count];
    new Random(SEED).nextBytes(bytes);
    return bytes;
  }
}
