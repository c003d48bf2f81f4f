package io.mallometer.agent;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * An application under the agent that knows nothing of it: says what it sees, and scrapes the port
 * given as an argument.
 */
public final class Application {

  private Application() {}

  /** Runs. */
  public static void main(String[] arguments) throws Exception {
    System.out.println("main runs");
    ObjectName name = new ObjectName("io.mallometer:type=NativeMemory");
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    awaitAgent();
    System.out.println("bean=" + server.isRegistered(name));
    if (server.isRegistered(name)) {
      System.out.println("active=" + server.getAttribute(name, "Active"));
      System.out.println("allocations=" + server.getAttribute(name, "AllocationCount"));
    }
    for (String library :
        new String[] {
          "com.sun.jna.Native", "io.prometheus.client.Collector", "io.mallometer.Mallometer"
        }) {
      System.out.println("sees " + library + "=" + sees(library));
    }
    if (arguments.length > 0) {
      System.out.println(scrape(Integer.parseInt(arguments[0])));
    }
    System.out.println("main ends");
  }

  /** The agent registers its MBeans when it sees that somebody uses JMX. */
  private static void awaitAgent() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals("mallometer-start")) {
        thread.join(5_000);
      }
    }
  }

  private static boolean sees(String name) {
    try {
      Class.forName(name);
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static String scrape(int port) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port + "/metrics");
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
        .body();
  }
}
