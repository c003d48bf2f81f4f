package recipe;

import com.sun.net.httpserver.HttpServer;
import io.mallometer.Mallometer;
import io.mallometer.micrometer.NativeMemoryMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

public final class App {

  private App() {}

  public static void main(String[] arguments) throws Exception {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    if (Boolean.getBoolean("recipe.bind")) {
      Mallometer mallometer = Mallometer.open();
      new NativeMemoryMetrics(mallometer, List.of()).bindTo(registry);
    }
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] text = registry.scrape().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
          exchange.close();
        });
    server.start();
    System.out.println("observed: http://127.0.0.1:" + server.getAddress().getPort() + "/metrics");
    System.out.println("ready");
    while (System.in.read() >= 0) {
      // Waits until the test runner closes the input.
    }
    System.exit(7);
  }
}
