import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleUnaryOperator;
import sun.misc.Unsafe;

/** A program without Spring whose memory does one thing. {@code Situation NAME [MINUTES]} runs until it is ended. */
final class Situation {
  /** Memory of malloc. */
  static final Unsafe UNSAFE = unsafe();

  private static final int MIB = 1 << 20;
  private static final int ENTRY = 64 << 10;
  private static final int CACHE = 150 * MIB;
  private static final int BURST = 120 * MIB;
  private static final int FILE = 1 << 30;

  private static final List<ByteBuffer> ENTRIES = new ArrayList<>();
  private static final List<byte[]> HEAP = new ArrayList<>();

  private Situation() {}

  public static void main(String[] arguments) throws Exception {
    String inputs = System.getProperty("inputs");
    if (inputs != null) {
      Inputs.record(inputs);
    }
    double minutes = arguments.length > 1 ? Double.parseDouble(arguments[1]) : 20;
    switch (arguments[0]) {
      case "read-cache" -> cache(share -> share, minutes, true);
      case "unread-cache" -> cache(share -> share, minutes, false);
      case "filling-cache" -> cache(share -> 1 - Math.exp(-share), minutes, true);
      case "batch" -> batch(minutes);
      case "touched" -> Thread.currentThread().join();
      case "burst" -> burst();
      case "heap" -> heap();
      case "page-cache" -> pageCache(Path.of(arguments[2]));
      case "threads" -> Growing.threads();
      case "bursts" -> Growing.bursts();
      case "realloc" -> Growing.realloc();
      case "many-leaks" -> Growing.manyLeaks();
      case "near-limit" -> Growing.nearLimit();
      case "streams" -> Growing.streams();
      case "read-only-mapping" -> Growing.readOnlyMapping(Path.of(arguments[2]));
      case "classes" -> Growing.classes();
      default -> {
        Path file = arguments.length > 2 ? Path.of(arguments[2]) : null;
        if (!Unseen.run(arguments[0], file) && !Libraries.run(arguments[0], file)) {
          throw new IllegalArgumentException(arguments[0]);
        }
      }
    }
  }

  /**
   * Fills a cache that then stays full. Entries that are read are read about every half minute.
   *
   * @param filled the filled share after a multiple of the minutes
   */
  private static void cache(DoubleUnaryOperator filled, double minutes, boolean read) throws InterruptedException {
    Random random = new Random(1);
    long sum = 0;
    double ticks = minutes * 60 * 10;
    for (int tick = 0; ; tick++) {
      while (ENTRIES.size() < CACHE / ENTRY * Math.min(filled.applyAsDouble(tick / ticks), 1)) {
        put();
      }
      for (int i = 0; read && !ENTRIES.isEmpty() && i < 8; i++) {
        ByteBuffer entry = ENTRIES.get(random.nextInt(ENTRIES.size()));
        for (int at = 0; at < ENTRY; at += 512) {
          sum += entry.get(at);
        }
      }
      Thread.sleep(100);
      if (sum == Long.MIN_VALUE) {
        System.out.println(sum);
      }
    }
  }

  /** Allocates for a minute, keeps the memory, and does not use it again. */
  private static void burst() throws InterruptedException {
    Thread.sleep(240_000);
    while (ENTRIES.size() < BURST / ENTRY) {
      put();
      Thread.sleep(60_000 / (BURST / ENTRY));
    }
    Thread.currentThread().join();
  }

  /** Allocates for a minute, uses the memory for three and frees it, again and again. */
  private static void batch(double minutes) throws InterruptedException {
    while (true) {
      Thread.sleep((long) (minutes * 60_000));
      while (ENTRIES.size() < BURST / ENTRY) {
        put();
        Thread.sleep(60_000 / (BURST / ENTRY));
      }
      for (int second = 0; second < 180; second++) {
        ENTRIES.forEach(entry -> entry.put(0, (byte) (entry.get(0) + 1)));
        Thread.sleep(1_000);
      }
      ENTRIES.clear();
      System.gc();
    }
  }

  private static void put() {
    ByteBuffer entry = ByteBuffer.allocateDirect(ENTRY);
    for (int at = 0; at < ENTRY; at++) {
      entry.put(at, (byte) at);
    }
    ENTRIES.add(entry);
    Planted.add("site:Situation.put", ENTRY);
  }

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Fills the Java heap by 25 MiB a minute. */
  private static void heap() throws InterruptedException {
    while (true) {
      byte[] kept = new byte[MIB];
      kept[0] = 1;
      HEAP.add(kept);
      Thread.sleep(2_400);
    }
  }

  /** Writes a large file and reads it again and again, 8 MiB a second. */
  private static void pageCache(Path file) throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(MIB);
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE)) {
      for (long at = 0; ; at = (at + MIB) % FILE) {
        buffer.clear();
        channel.write(buffer, at);
        buffer.clear();
        channel.read(buffer, (at + FILE / 2) % Math.max(MIB, channel.size()));
        Thread.sleep(125);
      }
    }
  }

  /**
   * Counts the true growth of a program by the rows of mallometer's account. Prints the counts every five seconds: {@code planted},
   * the milliseconds since 1970, and a field {@code ROW=BYTES} for each row, separated by tabs.
   *
   * <p>A row is {@code KIND:NAME}, such as {@code site:Archive.pack}, {@code file:data.mdb} or {@code count:threads}.
   */
  static final class Planted {
    private static final Map<String, LongAdder> ROWS = new ConcurrentHashMap<>();

    static {
      Thread printer = new Thread(Planted::printAgainAndAgain, "planted");
      printer.setDaemon(true);
      printer.start();
    }

    private Planted() {}

    static void add(String row, long bytes) {
      ROWS.computeIfAbsent(row, key -> new LongAdder()).add(bytes);
    }

    private static void printAgainAndAgain() {
      try {
        while (true) {
          StringBuilder line = new StringBuilder("planted\t").append(System.currentTimeMillis());
          ROWS.forEach((row, bytes) -> line.append('\t').append(row).append('=').append(bytes.sum()));
          System.out.println(line);
          Thread.sleep(5_000);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
