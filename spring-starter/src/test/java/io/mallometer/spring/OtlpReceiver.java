package io.mallometer.spring;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;

final class OtlpReceiver implements AutoCloseable {

  /** A received request with metrics, and its size in bytes as it was sent. */
  record Push(ExportMetricsServiceRequest request, int bytes) {
    List<Metric> metrics() {
      return request.getResourceMetricsList().stream()
          .flatMap(resource -> resource.getScopeMetricsList().stream())
          .flatMap(scope -> scope.getMetricsList().stream())
          .toList();
    }
  }

  private final HttpServer server;
  private final BlockingQueue<Push> pushes = new LinkedBlockingQueue<>();

  OtlpReceiver() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/v1/metrics", this::receive);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/metrics";
  }

  Push next() throws InterruptedException {
    Push push = pushes.poll(60, TimeUnit.SECONDS);
    if (push == null) {
      throw new AssertionError("nothing was pushed");
    }
    return push;
  }

  private void receive(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
    InputStream plain = new ByteArrayInputStream(body);
    pushes.add(
        new Push(
            ExportMetricsServiceRequest.parseFrom(zipped ? new GZIPInputStream(plain) : plain),
            body.length));
    exchange.sendResponseHeaders(200, -1);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
