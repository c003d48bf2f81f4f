import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtSession;
import com.github.luben.zstd.ZstdCompressCtx;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import groovy.lang.GroovyShell;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.conscrypt.Conscrypt;
import org.fusesource.leveldbjni.JniDBFactory;
import org.iq80.leveldb.DB;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.WriteBatch;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.Txn;
import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;
import org.rocksdb.RocksDB;
import sun.misc.Unsafe;

/**
 * Programs that each grow in one known way. Several of them reproduce a memory growth that users of
 * a library have reported.
 */
@SuppressWarnings({"deprecation", "removal"})
final class Growing {
  private static final int MIB = 1 << 20;
  private static final int PAGE = 4096;
  private static final Unsafe UNSAFE = Situation.UNSAFE;

  private static final List<Object> KEPT = new ArrayList<>();

  private Growing() {}

  private static void threads() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    while (true) {
      RepairTask.execute(never);
      Thread.sleep(200);
    }
  }

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

  /**
   * Runs 32 threads. In round N, each thread allocates 2,000 * N objects of 80 bytes, frees them,
   * and sleeps for 15 s.
   */
  private static void bursts() throws InterruptedException {
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

  private static void realloc() throws InterruptedException {
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

  /**
   * Leaks 12 MiB each minute, and adds 14 MiB in total to three caches each minute. Four pools with
   * 20 threads each do the work.
   */
  private static void manyLeaks() throws InterruptedException {
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

  /** A cache without a bound. Each addition reads and changes all entries, so none looks unused. */
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

  private static void nearLimit() throws InterruptedException {
    for (int i = 0; i < 240; i++) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(MIB), MIB, (byte) 1);
    }
    while (true) {
      Uploads.receive();
      Thread.sleep(384);
    }
  }

  private static final class Uploads {
    static void receive() {
      int bytes = 64 << 10;
      UNSAFE.setMemory(UNSAFE.allocateMemory(bytes), bytes, (byte) 1);
      Situation.Planted.add("site:Uploads.receive", bytes);
    }
  }

  /**
   * Allocates 400 MiB outside of the heap at the start. Then adds 70 MiB of live Java objects a
   * minute, up to 750 MiB.
   */
  private static void streams() throws InterruptedException {
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

  private static void readOnlyMapping(Path file) throws Exception {
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

  /** Defines a class in a new class loader ten times a second, and keeps an instance of 10 KiB of each class. */
  private static void classes() throws Exception {
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

  public static final class Script {
    final byte[] result = new byte[10 << 10];
  }

  static boolean run(String name, Path file) throws Exception {
    switch (name) {
      case "threads" -> threads();
      case "bursts" -> bursts();
      case "realloc" -> realloc();
      case "many-leaks" -> manyLeaks();
      case "near-limit" -> nearLimit();
      case "streams" -> streams();
      case "read-only-mapping" -> readOnlyMapping(file);
      case "classes" -> classes();
      case "onnxruntime" -> onnxruntime();
      case "groovy" -> groovy();
      case "duckdb" -> duckdb();
      case "lmdb" -> lmdb(file);
      case "jna" -> jnaAndDeflater();
      case "conscrypt" -> conscrypt();
      case "opencv" -> opencv();
      case "leveldb" -> leveldb(file);
      case "rocksdb" -> rocksdb();
      case "zstd" -> zstd();
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Runs a model every 12 s and keeps the result, which has 4 MiB. */
  private static void onnxruntime() throws Exception {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    OrtSession session = environment.createSession(Onnx.constantOfShape());
    while (true) {
      try (OnnxTensor shape = OnnxTensor.createTensor(environment, new long[] {MIB})) {
        Inference.infer(session, shape);
      }
      Thread.sleep(12_000);
    }
  }

  private static final class Inference {
    static void infer(OrtSession session, OnnxTensor shape) throws Exception {
      KEPT.add(session.run(Map.of("shape", shape)));
    }
  }

  private static final class Onnx {
    /** Returns a model whose input is a shape, and whose output is a tensor of zeros of that shape. */
    static byte[] constantOfShape() {
      byte[] node = join(text(1, "shape"), text(2, "zeros"), text(4, "ConstantOfShape"));
      byte[] graph = join(bytes(1, node), text(2, "graph"), bytes(11, value("shape", 7)), bytes(12, value("zeros", 1)));
      return join(number(1, 8), bytes(7, graph), bytes(8, number(2, 13)));
    }

    /**
     * Returns the declaration of a vector with elements of {@code type}. A vector of integers (type
     * 7) has the length 1, other vectors have an unknown length.
     */
    private static byte[] value(String name, int type) {
      byte[] dimension = type == 7 ? number(1, 1) : text(2, "n");
      byte[] tensor = join(number(1, type), bytes(2, bytes(1, dimension)));
      return join(text(1, name), bytes(2, bytes(1, tensor)));
    }

    private static byte[] number(int field, int value) {
      return new byte[] {(byte) (field << 3), (byte) value};
    }

    private static byte[] text(int field, String value) {
      return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns a protobuf field. Its value must have fewer than 128 bytes, because one byte holds the length. */
    private static byte[] bytes(int field, byte[] value) {
      return join(new byte[] {(byte) (field << 3 | 2), (byte) value.length}, value);
    }

    private static byte[] join(byte[]... parts) {
      ByteArrayOutputStream joined = new ByteArrayOutputStream();
      for (byte[] part : parts) {
        joined.writeBytes(part);
      }
      return joined.toByteArray();
    }
  }

  private static void groovy() throws Exception {
    GroovyShell shell = new GroovyShell();
    for (int i = 0; ; i++) {
      KEPT.add(shell.parse("def total = 0; (1.." + i + ").each { total += it * factor }; [total, '" + i + "']"));
      Thread.sleep(500);
    }
  }

  @SuppressWarnings("resource")
  private static void duckdb() throws Exception {
    Connection connection = DriverManager.getConnection("jdbc:duckdb:");
    while (true) {
      KEPT.add(connection.createStatement().executeQuery("SELECT range AS id, range * 2 AS twice FROM range(65536)"));
      Thread.sleep(4_000);
    }
  }

  /** Reads 30 MiB more of a database each minute. */
  private static void lmdb(Path directory) throws Exception {
    Files.createDirectories(directory);
    byte[] random = new byte[8_000];
    new Random(1).nextBytes(random);
    ByteBuffer value = ByteBuffer.allocateDirect(random.length).put(random).flip();
    ByteBuffer key = ByteBuffer.allocateDirect(4);
    int count = 300 * MIB / 8192;
    try (Env<ByteBuffer> env = Env.create().setMapSize(600L * MIB).setMaxDbs(1).open(directory.toFile(), EnvFlags.MDB_NOSYNC)) {
      Dbi<ByteBuffer> table = env.openDbi("table", DbiFlags.MDB_CREATE);
      for (int from = 0; from < count; from += 1000) {
        try (Txn<ByteBuffer> transaction = env.txnWrite()) {
          for (int i = from; i < from + 1000; i++) {
            table.put(transaction, key.putInt(0, i), value);
          }
          transaction.commit();
        }
      }
      env.sync(true);
    }
    Env<ByteBuffer> env = Env.create().setMapSize(600L * MIB).setMaxDbs(1).open(directory.toFile(), EnvFlags.MDB_RDONLY_ENV);
    Dbi<ByteBuffer> table = env.openDbi("table");
    byte[] read = new byte[random.length];
    for (int i = 0; ; i = (i + 1) % count) {
      try (Txn<ByteBuffer> transaction = env.txnRead()) {
        table.get(transaction, key.putInt(0, i)).get(read);
      }
      Thread.sleep(16);
    }
  }

  /** Creates 2.5 Deflaters of about 260 KiB each second and keeps them. Also loses 11 KiB ten times a second. */
  private static void jnaAndDeflater() throws InterruptedException {
    for (int tick = 0; ; tick++) {
      Tokens.read();
      if (tick % 4 == 0) {
        Archive.pack();
      }
      Thread.sleep(100);
    }
  }

  private static final class Archive {
    /** The bytes of zlib's deflate state with the default settings, see zconf.h. */
    private static final int DEFLATER_BYTES = 268_200;

    static void pack() {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[100]);
      deflater.finish();
      deflater.deflate(new byte[200]);
      KEPT.add(deflater);
      Situation.Planted.add("site:Archive.pack", DEFLATER_BYTES);
    }
  }

  private static final class Tokens {
    private static final int BYTES = 11 << 10;

    static void read() {
      new Pointer(Native.malloc(BYTES)).setMemory(0, BYTES, (byte) 1);
      Situation.Planted.add("site:Tokens.read", BYTES);
    }
  }

  /** Allocates 1 MiB of TLS engines and buffers each second. A garbage collection every 75 s frees them. */
  private static void conscrypt() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS", Conscrypt.newProvider());
    context.init(null, null, null);
    for (int tick = 0; ; tick++) {
      Deque<ByteBuffer> buffers = new ArrayDeque<>();
      SSLEngine engine = context.createSSLEngine("localhost", 443);
      engine.setUseClientMode(true);
      engine.beginHandshake();
      buffers.add(ByteBuffer.allocateDirect(engine.getSession().getPacketBufferSize()));
      engine.wrap(ByteBuffer.allocate(0), buffers.peek());
      buffers.add(ByteBuffer.allocateDirect(96 << 10));
      for (ByteBuffer buffer : buffers) {
        buffer.clear();
        buffer.put(new byte[buffer.capacity()]);
      }
      if (tick % 600 == 599) {
        System.gc();
      }
      Thread.sleep(125);
    }
  }

  private static void opencv() throws Exception {
    nu.pattern.OpenCV.loadLocally();
    Mat image = new Mat(200, 200, CvType.CV_8UC3, new Scalar(1, 2, 3));
    while (true) {
      Images.copy(image);
      Thread.sleep(800);
    }
  }

  /**
   * Copies images in a stream, so that frames of java.util.stream lie between the frame of this class and those of
   * OpenCV.
   */
  private static final class Images {
    static void copy(Mat image) {
      KEPT.addAll(Stream.of(image).map(Mat::clone).toList());
      Situation.Planted.add("site:Images.copy", 120_000);
    }
  }

  private static void leveldb(Path directory) throws Exception {
    DB database = JniDBFactory.factory.open(directory.toFile(), new Options().createIfMissing(true));
    byte[] value = new byte[100_000];
    while (true) {
      Batches.prepare(database, value);
      Thread.sleep(750);
    }
  }

  private static final class Batches {
    static void prepare(DB database, byte[] value) {
      WriteBatch batch = database.createWriteBatch();
      Collections.singletonMap(new byte[] {1}, value).forEach(batch::put);
      KEPT.add(batch);
      Situation.Planted.add("site:Batches.prepare", value.length);
    }
  }

  private static void rocksdb() throws Exception {
    RocksDB.loadLibrary();
    org.rocksdb.WriteBatch first = new org.rocksdb.WriteBatch();
    first.put(new byte[] {1}, new byte[100_000]);
    byte[] serialized = first.data();
    while (true) {
      Replicas.receive(serialized);
      Thread.sleep(750);
    }
  }

  private static final class Replicas {
    static void receive(byte[] serialized) {
      KEPT.addAll(Stream.of(serialized).map(org.rocksdb.WriteBatch::new).toList());
      Situation.Planted.add("site:Replicas.receive", serialized.length);
    }
  }

  private static void zstd() throws InterruptedException {
    byte[] report = new byte[21_000];
    while (true) {
      Storage.store(report);
      Thread.sleep(3_000);
    }
  }

  private static final class Storage {
    static void store(byte[] report) {
      ZstdCompressCtx context = new ZstdCompressCtx();
      KEPT.add(context);
      KEPT.addAll(Stream.of(report).map(context::compress).toList());
    }
  }
}
