package io.mallometer.agent;

import io.mallometer.SimulatedCheckpoints;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

public final class CheckpointedApplication {

  private CheckpointedApplication() {}

  /**
   * Scrapes the port in its argument, before a simulated checkpoint and after two restores. The
   * application occupies the port during the first restore, which a second checkpoint follows.
   */
  public static void main(String[] arguments) throws Exception {
    System.setProperty("http.keepAlive", "false");
    int port = Integer.parseInt(arguments[0]);
    System.out.println("scraped before: " + scrape(port));
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.getOutputStream().write("GET /metrics".getBytes(StandardCharsets.US_ASCII));
      System.out.println("open before: " + SimulatedCheckpoints.open());
      SimulatedCheckpoints.begin();
      System.out.println("closed: " + (client.getInputStream().read() < 0));
    }
    System.out.println("open meanwhile: " + SimulatedCheckpoints.open());
    try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      SimulatedCheckpoints.end();
      System.out.println("taken: " + taken.getLocalPort());
    }
    SimulatedCheckpoints.begin();
    SimulatedCheckpoints.end();
    System.out.println("scraped after: " + scrape(port));
    System.out.println("open after: " + SimulatedCheckpoints.open());
    System.out.println("main ends");
  }

  private static List<String> scrape(int port) throws InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + port + "/metrics?name[]=mallometer_active");
    for (int i = 0; i < 1_000; i++) {
      try (InputStream answer = uri.toURL().openStream()) {
        return Arrays.asList(new String(answer.readAllBytes(), StandardCharsets.UTF_8).split("\n"));
      } catch (IOException e) {
        Thread.sleep(20);
      }
    }
    return List.of();
  }
}
