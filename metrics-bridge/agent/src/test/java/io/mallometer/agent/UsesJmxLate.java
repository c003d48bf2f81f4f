package io.mallometer.agent;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.logging.LogManager;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * Uses JMX only after the agent's first reading of the resident memory, 5 s after the start. The
 * argument is the path of the JVM's log of loaded classes. The reading has begun when the log
 * contains {@link #LOADED}.
 */
public final class UsesJmxLate {

  /** A class that the JVM loads when the agent first reads the resident memory. */
  private static final String LOADED = "io.mallometer.internal.process.ResidentSplit";

  /** The pause between two scrapes. Scrapes in faster succession would show the same snapshot. */
  private static final int BETWEEN_SCRAPES_MILLIS = 300;

  private UsesJmxLate() {}

  public static void main(String[] arguments) throws Exception {
    Path loaded = Path.of(arguments[0]);
    for (int i = 0; i < 600 && !Files.readString(loaded).contains(LOADED); i++) {
      Thread.sleep(100);
    }
    System.out.println("read=" + Files.readString(loaded).contains(LOADED));
    Thread.sleep(500);
    System.out.println("JMX used=" + !MBeanServerFactory.findMBeanServer(null).isEmpty());
    System.setProperty("java.util.logging.manager", Application.OwnLogManager.class.getName());
    System.out.println(
        "own log manager=" + (LogManager.getLogManager() instanceof Application.OwnLogManager));
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName("io.mallometer:type=NativeMemory");
    for (int i = 0; i < 500 && !server.isRegistered(name); i++) {
      Thread.sleep(10);
    }
    System.out.println(
        "figures described=" + Files.readString(loaded).contains("io.mallometer.model.Component "));
    boolean known = false;
    for (int i = 0; i < 60 && !known; i++) {
      known = read(server, name).containsKey("java_heap");
      Thread.sleep(BETWEEN_SCRAPES_MILLIS);
    }
    System.out.println("heap known=" + known);
  }

  private static Map<?, ?> read(MBeanServer server, ObjectName name) throws Exception {
    TabularData parts = (TabularData) server.getAttribute(name, "ResidentParts");
    Map<Object, Object> read = new HashMap<>();
    for (Object row : parts.values()) {
      read.put(((CompositeData) row).get("key"), ((CompositeData) row).get("value"));
    }
    return read;
  }
}
