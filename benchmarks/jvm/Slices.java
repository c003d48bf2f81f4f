package io.mallometer.benchmarks.jvm;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.Deflater;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksMemEnv;
import org.rocksdb.WriteOptions;

/**
 * Measures the CPU time that a tool costs. A warm JVM does the same work with the tool in a
 * measured state and in a reference state.
 *
 * <p>Terms:
 *
 * <ul>
 * <li>part: one type of work, such as {@code zstd}; its amount is the number of repetitions;
 * <li>turn: one run of a part, which takes some 10 ms;
 * <li>kind: a measured state and the reference state with which it is compared;
 * <li>pair: one comparison of the two states of a kind. Every part runs {@code turns} times in the
 * measured state, and as often in the reference state.
 * </ul>
 *
 * <p>A turn in one state is followed by a turn of the same part in the other state, so that a busy
 * neighbour on the core slows both states equally. When every part has run in both states, the
 * order of the states is reversed. The order of the kinds is random, and so is the state that
 * begins a pair.
 *
 * <p>The state {@code planted} tests this method with a known cost, 1 % of the work's usual time.
 * The tool is {@code off}, and after the work the thread reads the clock for this time.
 *
 * <p>Arguments have the form {@code name=value}:
 *
 * <ul>
 * <li>{@code tool}, and the {@code path} of its library;
 * <li>{@code kinds}: {@code name:measured:reference,...};
 * <li>{@code parts}: {@code name:amount,...};
 * <li>{@code pairs}: the number of pairs of each kind;
 * <li>{@code turns}: the number of turns of each part in each state of a pair;
 * <li>{@code turn}: the mean time of a turn, in milliseconds; all amounts are multiplied by one
 * factor to reach this time; 0 keeps the amounts;
 * <li>{@code warm} and {@code tail}: seconds of work before the pairs and after them;
 * <li>{@code seed} of the random numbers.
 * </ul>
 *
 * <p>The output has these lines, with times in nanoseconds of CPU time:
 *
 * <ul>
 * <li>{@code turn KIND PAIR PART TIME REFERENCE_TIME PROCESS REFERENCE_PROCESS EVENTS
 * REFERENCE_EVENTS};
 * <li>{@code thread STAGE TIME NUMBER NAME};
 * <li>{@code peak BYTES}.
 * </ul>
 *
 * <p>In a line {@code turn}, {@code TIME} is the CPU time of the working thread, {@code PROCESS} is
 * the CPU time of all threads, and {@code EVENTS} is the number of allocations that the tool
 * counted.
 *
 * <p>In a line {@code thread}, {@code NUMBER} is the kernel's id of the thread, and {@code TIME} is
 * the thread's CPU time during the stage. A {@code STAGE} is {@code pairs} or {@code tail}. During
 * {@code tail} the measured state of the last kind stays on.
 */
public final class Slices {
  private static final String PLANTED = "planted";
  private static final int PLANTED_PART = 100;
  private static final int ROUNDS_OF_SCALING = 9;
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final ProcessClock process = new ProcessClock();
  private final Map<String, String> arguments;
  private final Switch tool;
  private final List<Kind> kinds = new ArrayList<>();
  private final List<Part> parts = new ArrayList<>();

  private record Kind(String name, String measured, String reference) {}

  private record Part(String name, NativeLoad.Part work, int amount, long usual) {}

  /**
   * The cost of a turn: nanoseconds of CPU time of the thread and of the process, and allocations that the tool
   * counted.
   */
  private record Turn(long time, long all, long events) {}

  private Slices(Map<String, String> arguments) {
    this.arguments = arguments;
    tool = Switch.of(arguments.get("tool"), arguments.getOrDefault("path", ""));
    for (String kind : arguments.get("kinds").split(",")) {
      String[] names = kind.split(":");
      kinds.add(new Kind(names[0], names[1], names[2]));
    }
    for (String part : arguments.get("parts").split(",")) {
      String[] words = part.split(":");
      parts.add(new Part(words[0], NativeLoad.part(words[0]), Integer.parseInt(words[1]), 0));
    }
  }

  public static void main(String[] words) throws Exception {
    Map<String, String> arguments = new TreeMap<>();
    for (String word : words) {
      String[] nameAndValue = word.split("=", 2);
      arguments.put(nameAndValue[0], nameAndValue[1]);
    }
    new Slices(arguments).run();
  }

  private void run() throws Exception {
    String last = kinds.get(kinds.size() - 1).measured;
    warmUp();
    scale();
    Map<String, Long> begin = ProcessClock.ofThreads();
    runPairs();
    printThreads("pairs", begin);
    tool.to(last);
    begin = ProcessClock.ofThreads();
    for (long end = System.nanoTime() + seconds("tail"); System.nanoTime() < end; ) {
      for (Part part : parts) {
        turn(part, last);
      }
    }
    printThreads("tail", begin);
    System.out.println("peak " + ProcessClock.peakResidentBytes());
  }

  private long number(String name) {
    return Long.parseLong(arguments.getOrDefault(name, "0"));
  }

  private long seconds(String name) {
    return number(name) * 1_000_000_000;
  }

  private void warmUp() throws Exception {
    long end = System.nanoTime() + seconds("warm");
    for (int i = 0; System.nanoTime() < end; i++) {
      Kind kind = kinds.get(i / 2 % kinds.size());
      enter(i % 2 == 0 ? kind.measured : kind.reference);
      for (Part part : parts) {
        turn(part, kind.reference);
      }
    }
  }

  /**
   * Multiplies the amounts of work of all parts by one factor, so that the parts take {@code turn}
   * milliseconds on average.
   */
  private void scale() throws Exception {
    enter(kinds.get(0).reference);
    long[] usual = new long[parts.size()];
    for (int i = 0; i < usual.length; i++) {
      long[] times = new long[ROUNDS_OF_SCALING];
      for (int round = 0; round < times.length; round++) {
        times[round] = turn(parts.get(i), "").time;
      }
      Arrays.sort(times);
      usual[i] = times[times.length / 2];
    }
    double sum = Arrays.stream(usual).sum();
    double factor = number("turn") == 0 ? 1 : number("turn") * 1e6 * usual.length / sum;
    for (int i = 0; i < usual.length; i++) {
      Part part = parts.get(i);
      int amount = (int) Math.max(1, part.amount * factor);
      parts.set(i, new Part(part.name, part.work, amount, (long) (usual[i] * factor)));
    }
  }

  private void runPairs() throws Exception {
    Random coin = new Random(number("seed"));
    for (int pair = 0; pair < number("pairs"); pair++) {
      Collections.shuffle(kinds, coin);
      for (Kind kind : kinds) {
        boolean firstOrder = coin.nextBoolean();
        for (int i = 0; i < number("turns") * parts.size(); i++) {
          Part part = parts.get(i % parts.size());
          boolean measuredFirst = firstOrder == (i / parts.size() % 2 == 0);
          Turn first = turnIn(measuredFirst ? kind.measured : kind.reference, part);
          Turn second = turnIn(measuredFirst ? kind.reference : kind.measured, part);
          print(kind, pair, part, measuredFirst ? first : second, measuredFirst ? second : first);
        }
      }
    }
  }

  private static void print(Kind kind, int pair, Part part, Turn measured, Turn reference) {
    String times = measured.time + " " + reference.time + " " + measured.all + " " + reference.all;
    String events = measured.events + " " + reference.events;
    System.out.println(String.join(" ", "turn", kind.name, "" + pair, part.name, times, events));
  }

  private Turn turnIn(String state, Part part) throws Exception {
    enter(state);
    return turn(part, state);
  }

  private void enter(String state) {
    tool.to(state.equals(PLANTED) ? "off" : state);
  }

  private Turn turn(Part part, String state) throws Exception {
    long events = tool.events();
    long all = process.nanoseconds();
    long begin = threads.getCurrentThreadCpuTime();
    part.work.run(part.amount);
    long end = threads.getCurrentThreadCpuTime();
    if (state.equals(PLANTED)) {
      long enough = end + part.usual / PLANTED_PART;
      while (end < enough) {
        end = threads.getCurrentThreadCpuTime();
      }
    }
    return new Turn(end - begin, process.nanoseconds() - all, tool.events() - events);
  }

  private static void printThreads(String stage, Map<String, Long> begin) throws IOException {
    ProcessClock.ofThreads()
        .forEach(
            (thread, end) -> {
              long spent = end - begin.getOrDefault(thread, 0L);
              System.out.println("thread " + stage + " " + spent + " " + thread);
            });
  }

  private interface Switch {
    /**
     * Switches the tool to a state.
     *
     * @throws IllegalStateException if the tool refuses
     */
    void to(String state);

    /**
     * Returns how many allocations the tool has counted since the process started, or 0 if the tool does not report
     * this number.
     */
    default long events() {
      return 0;
    }

    static Switch of(String tool, String path) {
      return switch (tool) {
        case "none" -> state -> {};
        case "mallometer" -> new Mallometer(NativeLibrary.getProcess());
        case "async-profiler" -> new AsyncProfiler(NativeLibrary.getInstance(path));
        case "jemalloc" -> new Jemalloc(NativeLibrary.getProcess());
        default -> throw new IllegalArgumentException("no tool " + tool);
      };
    }

    /**
     * Switches mallometer to {@code off}, {@code counting} (without samples) and {@code on} (with
     * a sample every 512 KiB on average).
     */
    final class Mallometer implements Switch {
      private static final int SAMPLE_INTERVAL = 2;
      private static final long DEFAULT_INTERVAL = 512 << 10;
      private static final int COUNTERS_BYTES = 184;
      private static final int ALLOCATIONS = 24;
      private static final int SIZE_CLASSES = 20;
      private final Function enable;
      private final Function disable;
      private final Function configure;
      private final Function snapshot;
      private final Memory counters = new Memory(COUNTERS_BYTES);

      Mallometer(NativeLibrary process) {
        enable = process.getFunction("mallometer_enable");
        disable = process.getFunction("mallometer_disable");
        configure = process.getFunction("mallometer_configure");
        snapshot = process.getFunction("mallometer_snapshot");
      }

      @Override
      public void to(String state) {
        switch (state) {
          case "off" -> check(disable.invokeInt(new Object[0]));
          case "counting" -> count(0);
          case "on" -> count(DEFAULT_INTERVAL);
          default -> throw new IllegalArgumentException(state);
        }
      }

      private void count(long interval) {
        check(configure.invokeInt(new Object[] {SAMPLE_INTERVAL, interval}));
        check(enable.invokeInt(new Object[0]));
      }

      @Override
      public long events() {
        counters.setInt(0, COUNTERS_BYTES);
        check(snapshot.invokeInt(new Object[] {counters, 0}));
        long sum = 0;
        for (int i = 0; i < SIZE_CLASSES; i++) {
          sum += counters.getLong(ALLOCATIONS + 8L * i);
        }
        return sum;
      }

      private static void check(int result) {
        if (result != 0) {
          throw new IllegalStateException("libmallometer answers " + result);
        }
      }
    }

    /**
     * Switches async-profiler to {@code off}, or starts it with options such as {@code nativemem=512k}, in which a plus
     * sign stands for a comma.
     */
    final class AsyncProfiler implements Switch {
      private final Function execute;
      private final Function message;
      private boolean runs;

      AsyncProfiler(NativeLibrary library) {
        library.getFunction("asprof_init").invokeVoid(new Object[0]);
        execute = library.getFunction("asprof_execute");
        message = library.getFunction("asprof_error_str");
      }

      @Override
      public void to(String state) {
        if (runs) {
          execute("stop");
        }
        runs = !state.equals("off");
        if (runs) {
          execute("start," + state.replace('+', ',') + ",file=profile.jfr");
        }
      }

      private void execute(String command) {
        Pointer error = execute.invokePointer(new Object[] {command, Pointer.NULL});
        if (error != null) {
          throw new IllegalStateException(
              command + ": " + message.invokeString(new Object[] {error}, false));
        }
      }
    }

    final class Jemalloc implements Switch {
      private final Function control;
      private final Memory value = new Memory(1);

      Jemalloc(NativeLibrary process) {
        control = process.getFunction("mallctl");
      }

      @Override
      public void to(String state) {
        value.setByte(0, (byte) (state.equals("on") ? 1 : 0));
        Object[] arguments = {"prof.active", Pointer.NULL, Pointer.NULL, value, 1L};
        int error = control.invokeInt(arguments);
        if (error != 0) {
          throw new IllegalStateException("mallctl(prof.active) answers " + error);
        }
      }
    }
  }

  private static final class ProcessClock {
    private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
    private final Function clock = NativeLibrary.getProcess().getFunction("clock_gettime");
    private final Memory timespec = new Memory(16);

    /**
     * Returns the user and system CPU time of the process in nanoseconds. The method calls
     * clock_gettime(), because the process CPU time that JDK 17 reports has steps of 10 ms.
     */
    long nanoseconds() {
      clock.invokeInt(new Object[] {CLOCK_PROCESS_CPUTIME_ID, timespec});
      return timespec.getLong(0) * 1_000_000_000 + timespec.getLong(8);
    }

    /** Returns the CPU time of each live thread in nanoseconds, by its id and name, such as "1234 main". */
    static Map<String, Long> ofThreads() throws IOException {
      Map<String, Long> found = new TreeMap<>();
      try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
        for (Path task : tasks) {
          try {
            String name = task.getFileName() + " " + Files.readString(task.resolve("comm")).trim();
            String spent = Files.readString(task.resolve("schedstat"));
            found.put(name, Long.parseLong(spent.substring(0, spent.indexOf(' '))));
          } catch (NoSuchFileException ended) {
            continue;
          }
        }
      }
      return found;
    }

    static long peakResidentBytes() throws IOException {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmHWM:")) {
          return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
        }
      }
      throw new IOException("/proc/self/status has no VmHWM");
    }
  }

  /**
   * Work in the native libraries that Java services load, without access to a disk. The {@code
   * amount} of a part is the number of rows, messages, buffers or other small pieces of its work.
   * Random numbers have fixed seeds, so equal amounts are equal work.
   */
  private static final class NativeLoad {
    private static final Map<String, Part> PARTS =
        Map.of(
            "sqlite", NativeLoad::sqlite,
            "zstd", NativeLoad::zstd,
            "rocksdb", NativeLoad::rocksdb,
            "deflate", NativeLoad::deflate,
            "direct", NativeLoad::directBuffers,
            "unsafe", NativeLoad::unsafe);

    interface Part {
      void run(int amount) throws Exception;
    }

    private NativeLoad() {}

    static Part part(String name) {
      Part part = PARTS.get(name);
      if (part == null) {
        throw new IllegalArgumentException(name + " is not one of " + PARTS.keySet());
      }
      return part;
    }

    private static void sqlite(int rows) throws SQLException {
      try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:")) {
        connection.setAutoCommit(false);
        try (var statement = connection.createStatement()) {
          statement.execute("create table entry (id integer primary key, name text, value real)");
        }
        for (int first = 0; first < rows; first += 100) {
          insert(connection, first);
          select(connection, first);
        }
      }
    }

    private static void insert(Connection connection, int first) throws SQLException {
      try (PreparedStatement insert =
          connection.prepareStatement("insert into entry (id, name, value) values (?, ?, ?)")) {
        for (int id = first; id < first + 100; id++) {
          insert.setInt(1, id);
          insert.setString(2, "entry number " + id);
          insert.setDouble(3, id * 0.5);
          insert.executeUpdate();
        }
      }
    }

    private static void select(Connection connection, int first) throws SQLException {
      try (PreparedStatement select =
          connection.prepareStatement("select name, value from entry where id >= ? and id < ?")) {
        select.setInt(1, first);
        select.setInt(2, first + 100);
        try (ResultSet found = select.executeQuery()) {
          while (found.next()) {
            consume(found.getString(1).length());
          }
        }
      }
    }

    private static void zstd(int messages) {
      byte[] message = text(8192);
      for (int i = 0; i < messages; i++) {
        try (var compressor = new ZstdCompressCtx();
            var decompressor = new ZstdDecompressCtx()) {
          byte[] compressed = compressor.compress(message);
          consume(decompressor.decompress(compressed, message.length).length);
        }
      }
    }

    private static void rocksdb(int values) throws RocksDBException {
      RocksDB.loadLibrary();
      Random random = new Random(1);
      byte[] value = text(100);
      try (var environment = new RocksMemEnv(Env.getDefault());
          var options =
              new Options()
                  .setCreateIfMissing(true)
                  .setEnv(environment)
                  .setDisableAutoCompactions(true);
          var writing = new WriteOptions().setDisableWAL(true);
          var database = RocksDB.open(options, "/load")) {
        for (int i = 0; i < values; i++) {
          database.put(writing, key(i), value);
          byte[] found = database.get(key(random.nextInt(i + 1)));
          consume(found.length);
        }
      }
    }

    private static byte[] key(int number) {
      return Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    private static void deflate(int pages) {
      byte[] page = text(16384);
      byte[] output = new byte[page.length];
      for (int i = 0; i < pages; i++) {
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        deflater.setInput(page);
        deflater.finish();
        consume(deflater.deflate(output));
        deflater.end();
      }
    }

    /**
     * Allocates direct buffers of 256 bytes to 16 KiB. Keeps only the last 256 buffers; the
     * collector frees the others.
     */
    private static void directBuffers(int buffers) {
      ByteBuffer[] window = new ByteBuffer[256];
      Random random = new Random(2);
      for (int i = 0; i < buffers; i++) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(256 + random.nextInt(16128));
        buffer.put(0, (byte) i);
        window[i % window.length] = buffer;
      }
      consume(window.length);
    }

    /**
     * Allocates and frees 64 to 1,087 bytes without other work, so that the tool's hook and the allocator take nearly
     * all CPU time.
     */
    private static void unsafe(int pairs) throws Exception {
      try {
        for (int i = 0; i < pairs; i++) {
          long address = (long) UnsafeMemory.ALLOCATE.invokeExact(64L + (i & 1023));
          UnsafeMemory.FREE.invokeExact(address);
        }
      } catch (Throwable failed) {
        throw new IllegalStateException("sun.misc.Unsafe", failed);
      }
    }

    /**
     * Calls sun.misc.Unsafe through method handles, because javac warns about direct calls. The
     * handles are constants, so the JIT compiler turns them into direct calls.
     */
    private static final class UnsafeMemory {
      static final MethodHandle ALLOCATE;
      static final MethodHandle FREE;

      static {
        try {
          Class<?> type = Class.forName("sun.misc.Unsafe");
          Field field = type.getDeclaredField("theUnsafe");
          field.setAccessible(true);
          Object unsafe = field.get(null);
          MethodHandles.Lookup lookup = MethodHandles.lookup();
          ALLOCATE = lookup.unreflect(type.getMethod("allocateMemory", long.class)).bindTo(unsafe);
          FREE = lookup.unreflect(type.getMethod("freeMemory", long.class)).bindTo(unsafe);
        } catch (ReflectiveOperationException missing) {
          throw new ExceptionInInitializerError(missing);
        }
      }
    }

    private static byte[] text(int bytes) {
      Random random = new Random(3);
      StringBuilder words = new StringBuilder();
      while (words.length() < bytes) {
        words.append(Integer.toString(random.nextInt(1000), 36)).append(' ');
      }
      return words.substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
    }

    private static volatile int consumed;

    private static void consume(int value) {
      consumed = value;
    }
  }
}
