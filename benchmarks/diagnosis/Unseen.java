import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import sun.misc.Unsafe;

/**
 * Programs for an unbiased test of mallometer's diagnosis. The author wrote all of them before
 * trying the diagnosis on any of them.
 */
@SuppressWarnings({"deprecation", "removal"})
final class Unseen {
  private static final int MIB = 1 << 20;
  private static final int PAGE = 4096;
  private static final Unsafe UNSAFE = Situation.UNSAFE;

  private static final List<Object> KEPT = new ArrayList<>();

  private Unseen() {}

  /** Runs the program of this name until the JVM is ended. Returns false if no program has this name. */
  static boolean run(String name, Path file) throws Exception {
    switch (name) {
      case "sessions" -> sessions();
      case "inflaters" -> inflaters();
      case "batch-of-unsafe" -> batches();
      case "child" -> child();
      case "child-itself" -> childItself();
      case "full-heap" -> fullHeap();
      case "pinned" -> pinned();
      case "pool-per-request" -> poolPerRequest();
      case "written-mapping" -> writtenMapping(file);
      case "shm" -> shm();
      case "idle-server" -> idleServer();
      case "hidden-classes" -> hiddenClasses();
      case "ring" -> ring();
      default -> {
        return false;
      }
    }
    return true;
  }

  /**
   * Opens 480 sessions of 128 KiB within two minutes, uses them, and from then on replaces the oldest one each second.
   */
  private static void sessions() throws InterruptedException {
    Deque<ByteBuffer> open = new ArrayDeque<>();
    Random random = new Random(1);
    for (int tick = 0; ; tick++) {
      boolean fills = open.size() < 480;
      if (fills || tick % 4 == 0) {
        open.add(Sessions.open());
      }
      if (open.size() > 480) {
        Sessions.close(open.remove());
      }
      for (ByteBuffer session : open) {
        if (random.nextInt(40) == 0) {
          session.put(0, (byte) (session.get(0) + 1));
        }
      }
      Thread.sleep(250);
    }
  }

  private static final class Sessions {
    private static final int BYTES = 128 << 10;

    static ByteBuffer open() {
      ByteBuffer session = ByteBuffer.allocateDirect(BYTES);
      for (int at = 0; at < BYTES; at += PAGE) {
        session.put(at, (byte) 1);
      }
      Situation.Planted.add("site:Sessions.open", BYTES);
      return session;
    }

    static void close(ByteBuffer session) {
      UNSAFE.invokeCleaner(session);
      Situation.Planted.add("site:Sessions.open", -BYTES);
    }
  }

  /** Lets three readers each create and keep 50 Inflaters (about 2 MiB) a minute. */
  private static void inflaters() throws Exception {
    Deflater deflater = new Deflater();
    byte[] text = new byte[64 << 10];
    new Random(1).nextBytes(text);
    deflater.setInput(text);
    deflater.finish();
    byte[] packed = new byte[80 << 10];
    int length = deflater.deflate(packed);
    deflater.end();
    while (true) {
      Mail.read(packed, length);
      Thread.sleep(400);
      Invoice.read(packed, length);
      Thread.sleep(400);
      Letter.read(packed, length);
      Thread.sleep(400);
    }
  }

  /**
   * The bytes of the state that zlib allocates for an inflater. zlib allocates the window later, when it inflates the
   * first bytes.
   */
  private static final int STATE_BYTES = 7_160;
  private static final int WINDOW_BYTES = 32 << 10;

  private static Inflater inflate(Inflater inflater, byte[] packed, int length) throws Exception {
    inflater.setInput(packed, 0, length);
    inflater.inflate(new byte[32 << 10]);
    Situation.Planted.add("site:Unseen.inflate", WINDOW_BYTES);
    return inflater;
  }

  private static final class Mail {
    static void read(byte[] packed, int length) throws Exception {
      KEPT.add(inflate(new Inflater(), packed, length));
      Situation.Planted.add("site:Mail.read", STATE_BYTES);
    }
  }

  private static final class Invoice {
    static void read(byte[] packed, int length) throws Exception {
      KEPT.add(inflate(new Inflater(), packed, length));
      Situation.Planted.add("site:Invoice.read", STATE_BYTES);
    }
  }

  private static final class Letter {
    static void read(byte[] packed, int length) throws Exception {
      KEPT.add(inflate(new Inflater(), packed, length));
      Situation.Planted.add("site:Letter.read", STATE_BYTES);
    }
  }

  /** Allocates 60 MiB within a minute, works for 20 s, frees all and pauses for 20 s, again and again. */
  private static void batches() throws InterruptedException {
    List<Long> blocks = new ArrayList<>();
    while (true) {
      for (int i = 0; i < 240; i++) {
        blocks.add(Nightly.load());
        Thread.sleep(250);
      }
      for (int second = 0; second < 20; second++) {
        for (long block : blocks) {
          UNSAFE.putLong(block, UNSAFE.getLong(block) + 1);
        }
        Thread.sleep(1_000);
      }
      blocks.forEach(UNSAFE::freeMemory);
      Situation.Planted.add("site:Nightly.load", -blocks.size() * (long) Nightly.BYTES);
      blocks.clear();
      Thread.sleep(20_000);
    }
  }

  private static final class Nightly {
    private static final int BYTES = 256 << 10;

    static long load() {
      long block = UNSAFE.allocateMemory(BYTES);
      UNSAFE.setMemory(block, BYTES, (byte) 1);
      Situation.Planted.add("site:Nightly.load", BYTES);
      return block;
    }
  }

  private static void child() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    ProcessBuilder builder =
        new ProcessBuilder(java, "-Xmx16m", "-Xint", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), "Situation", "child-itself");
    builder.environment().remove("LD_PRELOAD");
    Process process = builder.redirectErrorStream(true).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    try (InputStream in = process.getInputStream()) {
      for (int read = in.read(); read >= 0; read = in.read()) {
        if (read == 'x') {
          Situation.Planted.add("others:other processes", MIB / 4);
        }
      }
    }
  }

  private static void childItself() throws InterruptedException {
    while (true) {
      UNSAFE.setMemory(UNSAFE.allocateMemory(MIB / 4), MIB / 4, (byte) 1);
      System.out.print('x');
      System.out.flush();
      Thread.sleep(1_875);
    }
  }

  private static void fullHeap() throws InterruptedException {
    Deque<byte[]> cache = new ArrayDeque<>();
    while (true) {
      cache.add(new byte[64 << 10]);
      if (cache.size() > 140 * 16) {
        cache.remove();
      }
      byte[] garbage = new byte[32 << 10];
      garbage[0] = 1;
      Thread.sleep(94);
    }
  }

  /**
   * Allocates 2 MiB of objects in each round and shrinks each object to 64 bytes. The holes between the objects are too
   * small for the larger objects of the next round, so malloc retains 11 MiB more each minute.
   */
  private static void pinned() throws InterruptedException {
    Random random = new Random(1);
    for (int round = 0; ; round++) {
      Index.rebuild(1000 + 128 * round);
      for (int i = 0; i < 100; i++) {
        for (int entry = 0; entry < 1_000; entry++) {
          long address = Index.ENTRIES.get(random.nextInt(Index.ENTRIES.size()));
          UNSAFE.putLong(address, UNSAFE.getLong(address) + 1);
        }
        Thread.sleep(100);
      }
    }
  }

  private static final class Index {
    private static final int ENTRY = 64;
    static final List<Long> ENTRIES = new ArrayList<>();

    static void rebuild(int size) {
      long[] large = new long[2 * MIB / size];
      for (int i = 0; i < large.length; i++) {
        large[i] = UNSAFE.allocateMemory(size);
        UNSAFE.setMemory(large[i], size, (byte) 1);
      }
      for (long one : large) {
        ENTRIES.add(UNSAFE.reallocateMemory(one, ENTRY));
      }
      Situation.Planted.add("site:Index.rebuild", large.length * (long) ENTRY);
      Situation.Planted.add("retained:malloc retained", large.length * (long) (size - ENTRY));
    }
  }

  /** Creates a pool of two threads every two seconds and never shuts it down. */
  private static void poolPerRequest() throws InterruptedException {
    for (int i = 0; ; i++) {
      Orders.handle(i);
      Thread.sleep(2_000);
    }
  }

  private static final class Orders {
    static void handle(int number) {
      int[] count = {0};
      ExecutorService pool =
          Executors.newFixedThreadPool(
              2,
              task -> {
                Thread thread = new Thread(task, "order-" + number + "-worker-" + count[0]++);
                thread.setDaemon(true);
                return thread;
              });
      for (int i = 0; i < 2; i++) {
        pool.execute(() -> new StringBuilder().append(number).reverse());
        Situation.Planted.add("count:threads", 1);
      }
      KEPT.add(pool);
    }
  }

  private static void writtenMapping(Path file) throws Exception {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 600L * MIB);
      for (int at = 0; ; at = (at + PAGE) % mapped.capacity()) {
        mapped.put(at, (byte) 1);
        if (at / PAGE % 64 == 0) {
          Situation.Planted.add("file:" + file.getFileName(), MIB / 4);
          Thread.sleep(500);
        }
      }
    }
  }

  /** Writes 10 MiB a minute to files in a tmpfs, 5 MiB each. */
  private static void shm() throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(MIB / 4);
    for (int number = 0; ; number++) {
      Path file = Files.createTempFile(Path.of("/dev/shm"), "spool-", ".tmp");
      file.toFile().deleteOnExit();
      for (int i = 0; i < 20; i++) {
        buffer.clear();
        Files.write(file, new byte[MIB / 4], StandardOpenOption.APPEND);
        Situation.Planted.add("tmpfs:files in tmpfs", MIB / 4);
        Thread.sleep(1_500);
      }
    }
  }

  private static void idleServer() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.createContext(
        "/",
        exchange -> {
          byte[] answer = "hello".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    while (true) {
      try (InputStream in = address.toURL().openStream()) {
        in.readAllBytes();
      } catch (IOException refused) {
        System.out.println(refused);
      }
      Thread.sleep(2_000);
    }
  }

  private static void hiddenClasses() throws Exception {
    byte[] code;
    try (InputStream in = Unseen.class.getResourceAsStream("Unseen$Rule.class")) {
      code = in.readAllBytes();
    }
    while (true) {
      KEPT.add(MethodHandles.lookup().defineHiddenClass(code, true).lookupClass().getDeclaredConstructor().newInstance());
      Situation.Planted.add("count:classes", 1);
      Thread.sleep(100);
    }
  }

  static final class Rule {
    Rule() {}

    int apply(int value) {
      return value * 31 + 7;
    }

    String apply(String value) {
      return value.isEmpty() ? "empty" : value.substring(1) + value.charAt(0);
    }
  }

  private static void ring() throws InterruptedException {
    while (true) {
      long ring = Ring.replace();
      for (int i = 0; i < 200; i++) {
        UNSAFE.putLong(ring + i * 8L, i);
        Thread.sleep(100);
      }
    }
  }

  private static final class Ring {
    static long replace() {
      long ring = UNSAFE.allocateMemory(4 * MIB);
      UNSAFE.setMemory(ring, 4 * MIB, (byte) 0);
      Situation.Planted.add("site:Ring.replace", 4 * MIB);
      return ring;
    }
  }
}
