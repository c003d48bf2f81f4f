package io.mallometer.agent;

import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.logging.LogManager;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * An application that contains no call of the agent. It prints what it observes, and scrapes the
 * port in its argument.
 */
public final class Application {

  private static final String START = "mallometer-start";

  private Application() {}

  public static final class OwnLogManager extends LogManager {}

  public static void main(String[] arguments) throws Exception {
    System.out.println("main runs, waited for the agent=" + !threads().contains(START));
    awaitPoller();
    System.setProperty("java.util.logging.manager", OwnLogManager.class.getName());
    System.out.println("own log manager=" + (LogManager.getLogManager() instanceof OwnLogManager));
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

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
  }

  private static void awaitPoller() throws InterruptedException {
    while (threads().contains(START) && !threads().contains("mallometer-poller")) {
      Thread.sleep(5);
    }
  }

  private static void awaitAgent() throws InterruptedException {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().equals(START)) {
        thread.join(30_000);
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
