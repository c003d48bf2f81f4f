package io.mallometer.agent;

import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;

/**
 * An application with libraries that the agent has in other versions. It uses them by reflection,
 * because the tests are compiled with the agent's versions.
 */
public final class OlderLibraries {

  private OlderLibraries() {}

  public static void main(String[] arguments) throws Exception {
    Object process = type("com.sun.jna.NativeLibrary").getMethod("getProcess").invoke(null);
    Object function =
        process.getClass().getMethod("getFunction", String.class).invoke(process, "getpid");
    Object pid =
        function
            .getClass()
            .getMethod("invokeInt", Object[].class)
            .invoke(function, (Object) new Object[0]);
    System.out.println("pid is right=" + pid.equals((int) ProcessHandle.current().pid()));
    System.out.println("jna=" + type("com.sun.jna.Native").getPackage().getImplementationVersion());
    Object registry =
        type("io.micrometer.core.instrument.simple.SimpleMeterRegistry")
            .getConstructor()
            .newInstance();
    System.out.println(
        "micrometer=" + registry.getClass().getClassLoader().getClass().getSimpleName());
    Object client =
        type("io.prometheus.client.CollectorRegistry").getField("defaultRegistry").get(null);
    Object families = client.getClass().getMethod("metricFamilySamples").invoke(client);
    System.out.println(
        "ours in the application's registry=" + ((Enumeration<?>) families).hasMoreElements());
    for (String address : arguments) {
      System.out.println(await(address));
    }
    System.out.println("beans=" + ManagementFactory.getPlatformMBeanServer().getMBeanCount());
    System.out.println("main ends");
  }

  private static Class<?> type(String name) throws ClassNotFoundException {
    return Class.forName(name);
  }

  private static String await(String address) throws Exception {
    String read = "";
    for (int i = 0; i < 150 && !isWhole(read); i++) {
      Thread.sleep(100);
      read = read(address);
    }
    return read;
  }

  private static boolean isWhole(String read) {
    return read.contains("native_memory_resident_bytes{") || read.contains("\"reason\":\"\"");
  }

  private static String read(String address) throws Exception {
    URLConnection connection = new URL(address).openConnection();
    connection.setReadTimeout(60_000);
    return new String(connection.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }
}
