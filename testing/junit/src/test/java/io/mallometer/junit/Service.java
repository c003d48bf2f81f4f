package io.mallometer.junit;

import com.sun.jna.Native;
import com.sun.net.httpserver.HttpServer;
import io.mallometer.Mallometer;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.MallometerOptions;
import io.mallometer.view.Views;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;

/** A service in a JVM of its own, which leaks 4 MiB for each request of {@code /leak}. */
final class Service {

  private Service() {}

  /** Serves until its standard input ends. */
  public static void main(String[] arguments) throws IOException {
    Mallometer mallometer =
        Mallometer.open(MallometerOptions.defaults().withPollInterval(Duration.ofMillis(20)));
    mallometer.counting().attach();
    Views views = new Views(mallometer);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    serve(server, "/nativememory", () -> views.nativeMemory().json());
    serve(
        server,
        "/leak",
        () -> {
          Native.malloc(4 << 20);
          return new byte[] {'.'};
        });
    serve(server, "/clean", () -> new byte[] {'.'});
    server.start();
    NativeMemoryMBeans.register(mallometer);
    JMXConnectorServer connector =
        JMXConnectorServerFactory.newJMXConnectorServer(
            new JMXServiceURL("service:jmx:rmi://127.0.0.1"),
            Map.of(),
            ManagementFactory.getPlatformMBeanServer());
    connector.start();
    System.out.println(server.getAddress().getPort() + " " + connector.getAddress());
    while (System.in.read() >= 0) {
      // Until the test ends.
    }
    System.exit(0);
  }

  @FunctionalInterface
  private interface Answer {
    byte[] get() throws IOException;
  }

  private static void serve(HttpServer server, String path, Answer answer) {
    server.createContext(
        path,
        exchange -> {
          byte[] body = answer.get();
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
  }
}
