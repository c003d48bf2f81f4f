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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import sun.misc.Unsafe;

/**
 * Writes all that the rules of the diagnosis read at minutes 3, 5 and 9, so that tests can draw the diagnosis again: {@code NAME-5.json.gz}.
 * Reads the engine of the agent in this JVM by reflection.
 */
@SuppressWarnings("removal")
final class Inputs {
  private static final List<Integer> MINUTES = List.of(3, 5, 9);

  private static final Unsafe UNSAFE = Situation.UNSAFE;

  /** The offset of {@code AccessibleObject.override}, which disables access checks. */
  private static final long OVERRIDE = 12;

  private Inputs() {}

  /** Makes a member accessible. From JDK 24 on the agent is a module that opens no package. */
  private static <T extends AccessibleObject> T opened(T member) {
    UNSAFE.putBoolean(member, OVERRIDE, true);
    return member;
  }

  /** Begins to write files whose path begins with a prefix. */
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
        // This is no thread of the agent.
      }
    }
    throw new ClassNotFoundException("no thread has the agent's classes");
  }

  /** Returns the components of a DiagnosisInput but for the options, which are the defaults, and the previous run. */
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

  /** Writes JSON: a record as an object, an enum constant and a time as their texts, NaN and empty values as null. */
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

  /** Reads JMX ports from lines of standard input, and prints the diagnosis of each JVM: state, tab, sentence. */
  static final class Beans {
    private Beans() {}

    public static void main(String[] arguments) throws Exception {
      var name = new ObjectName("io.mallometer:type=NativeMemory");
      var ports = new BufferedReader(new InputStreamReader(System.in));
      for (String port = ports.readLine(); port != null; port = ports.readLine()) {
        var address = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + port + "/jmxrmi");
        try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
          MBeanServerConnection server = connector.getMBeanServerConnection();
          System.out.println(server.getAttribute(name, "Diagnosis") + "\t" + server.getAttribute(name, "DiagnosisSentence"));
        } catch (Exception refused) {
          System.out.println("\t" + refused.getClass().getSimpleName());
        }
      }
    }
  }
}
