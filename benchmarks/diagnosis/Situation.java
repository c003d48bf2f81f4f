import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleUnaryOperator;
import java.util.zip.GZIPOutputStream;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import sun.misc.Unsafe;

/**
 * A program without Spring whose memory develops in one known way. {@code Situation NAME [MINUTES]} runs until it is
 * ended.
 */
final class Situation {
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
      default -> {
        Path file = arguments.length > 2 ? Path.of(arguments[2]) : null;
        if (!Unseen.run(arguments[0], file) && !Growing.run(arguments[0], file)) {
          throw new IllegalArgumentException(arguments[0]);
        }
      }
    }
  }

  /**
   * Fills a cache, which then stays full. If {@code read} is set, each entry is read about twice a
   * minute.
   *
   * @param filled maps the elapsed time, as a fraction of {@code minutes}, to the filled share of
   *     the cache
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

  /** Waits for four minutes, allocates 120 MiB within a minute, and never uses this memory. */
  private static void burst() throws InterruptedException {
    Thread.sleep(240_000);
    while (ENTRIES.size() < BURST / ENTRY) {
      put();
      Thread.sleep(60_000 / (BURST / ENTRY));
    }
    Thread.currentThread().join();
  }

  /**
   * Repeats a cycle: waits for {@code minutes}, allocates 120 MiB within a minute, uses this memory for three minutes
   * and frees it.
   */
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

  private static void heap() throws InterruptedException {
    while (true) {
      byte[] kept = new byte[MIB];
      kept[0] = 1;
      HEAP.add(kept);
      Thread.sleep(2_400);
    }
  }

  /**
   * Writes a file of 1 GiB again and again, 8 MiB a second, and reads the file at the same time, also 8 MiB a second.
   */
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
   * Counts the true growth of each part of the program, as a reference for mallometer's table of
   * growth. Prints a line every five seconds: the word {@code planted}, the milliseconds since
   * 1970, and {@code ROW=BYTES} for each row of the table. Tabs separate the fields.
   *
   * <p>A row is {@code KIND:NAME}, such as {@code site:Archive.pack}, {@code file:data.mdb} or
   * {@code count:threads}.
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

  /**
   * Writes the inputs of mallometer's diagnosis to files such as {@code NAME-5.json.gz}, at minutes 3, 5 and 9, so that
   * tests can repeat the diagnosis.
   */
  @SuppressWarnings("removal")
  static final class Inputs {
    private static final List<Integer> MINUTES = List.of(3, 5, 9);

    /**
     * The offset in bytes of the field {@code AccessibleObject.override}. The value true in this field disables access
     * checks.
     */
    private static final long OVERRIDE = 12;

    private Inputs() {}

    /**
     * Makes a member accessible without setAccessible(). From JDK 24 on the agent is a module that
     * opens no package, and setAccessible() would fail.
     */
    private static <T extends AccessibleObject> T opened(T member) {
      UNSAFE.putBoolean(member, OVERRIDE, true);
      return member;
    }

    static void record(String prefix) {
      Thread thread = new Thread(() -> recordAll(prefix), "inputs");
      thread.setDaemon(true);
      thread.start();
    }

    private static void recordAll(String prefix) {
      try {
        for (int minute : MINUTES) {
          long due = ManagementFactory.getRuntimeMXBean().getStartTime() + minute * 60_000L;
          Thread.sleep(Math.max(0, due - System.currentTimeMillis()));
          try (Writer out = new OutputStreamWriter(new GZIPOutputStream(Files.newOutputStream(Path.of(prefix + "-" + minute + ".json.gz"))), StandardCharsets.UTF_8)) {
            write(input(engine()), out);
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (IOException | ReflectiveOperationException | RuntimeException e) {
        System.out.println("inputs are not recorded: " + e);
      }
    }

    private static Object engine() throws ReflectiveOperationException {
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        try {
          return opened(Class.forName("io.mallometer.Mallometer$Shared", false, thread.getContextClassLoader()).getDeclaredField("POLLER"))
              .get(null);
        } catch (ClassNotFoundException e) {
          // The class loader of this thread does not have the agent's classes, so the next thread is tried.
        }
      }
      throw new ClassNotFoundException("no thread has the agent's classes");
    }

    /**
     * Returns the components of a DiagnosisInput. The previous run and the options are left out:
     * tests use default values for them.
     */
    private static Map<String, Object> input(Object engine) throws ReflectiveOperationException {
      Object poller = field(engine, "poller");
      Object diagnoser = field(poller, "diagnoser");
      Object facts = field(diagnoser, "facts");
      Object held = field(diagnoser, "held");
      Object snapshot = field(poller, "latest");
      Map<String, Object> input = new LinkedHashMap<>();
      input.put("snapshot", snapshot);
      input.put("history", call(field(diagnoser, "history"), "points"));
      input.put("readings", call(field(diagnoser, "readings"), "all"));
      input.put("sites", call(field(facts, "sites"), "get"));
      input.put("leaks", call(field(facts, "leaks"), "get"));
      input.put("started", call(held, "started"));
      input.put("startedUp", method(held, "startedUp", Instant.class).invoke(held, call(snapshot, "time")));
      input.put("firstRow", ((List<?>) call(call(held, "latest"), "named")).stream().findFirst());
      return input;
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
      return opened(of.getClass().getDeclaredField(name)).get(of);
    }

    private static Object call(Object of, String name) throws ReflectiveOperationException {
      return method(of, name).invoke(of);
    }

    private static Method method(Object of, String name, Class<?>... parameters) throws ReflectiveOperationException {
      return opened(of.getClass().getDeclaredMethod(name, parameters));
    }

    /**
     * Writes a value as JSON: a record as an object without its component {@code diagnosis}, an enum constant as its
     * name, and an empty Optional, an infinite number or NaN as null.
     */
    private static void write(Object value, Writer out) throws IOException, ReflectiveOperationException {
      if (value instanceof Optional<?> optional) {
        write(optional.orElse(null), out);
      } else if (value instanceof Record) {
        Map<String, Object> components = new LinkedHashMap<>();
        for (RecordComponent component : value.getClass().getRecordComponents()) {
          if (!component.getName().equals("diagnosis")) {
            components.put(component.getName(), call(value, component.getName()));
          }
        }
        write(components, out);
      } else if (value instanceof Map<?, ?> map) {
        out.write('{');
        for (Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator(); entries.hasNext(); ) {
          Map.Entry<?, ?> entry = entries.next();
          write(entry.getKey() instanceof Enum<?> constant ? constant.name() : entry.getKey().toString(), out);
          out.write(':');
          write(entry.getValue(), out);
          out.write(entries.hasNext() ? "," : "");
        }
        out.write('}');
      } else if (value instanceof Collection<?> collection) {
        out.write('[');
        for (Iterator<?> elements = collection.iterator(); elements.hasNext(); ) {
          write(elements.next(), out);
          out.write(elements.hasNext() ? "," : "");
        }
        out.write(']');
      } else if (value == null || value instanceof Double number && !Double.isFinite(number)) {
        out.write("null");
      } else if (value instanceof Number || value instanceof Boolean) {
        out.write(value.toString());
      } else {
        String text = value instanceof Enum<?> constant ? constant.name() : value.toString();
        out.write('"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t") + '"');
      }
    }

    /**
     * Reads JMX ports from standard input, one on each line. Prints a line for each JVM: the
     * attributes {@code State} and {@code Sentence} of the MBean {@code
     * io.mallometer:type=Diagnosis}, separated by a tab. For a JVM that does not answer, the line
     * has an empty state and the name of the exception.
     */
    static final class Beans {
      private Beans() {}

      public static void main(String[] arguments) throws Exception {
        var name = new ObjectName("io.mallometer:type=Diagnosis");
        var ports = new BufferedReader(new InputStreamReader(System.in));
        for (String port = ports.readLine(); port != null; port = ports.readLine()) {
          var address = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi");
          try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            System.out.println(server.getAttribute(name, "State") + "\t" + server.getAttribute(name, "Sentence"));
          } catch (Exception refused) {
            System.out.println("\t" + refused.getClass().getSimpleName());
          }
        }
      }
    }
  }
}
