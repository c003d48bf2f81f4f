package io.mallometer.push;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * A store of profiles for tests. It understands the part of Pyroscope's protocol that pushes use.
 */
public final class ProfileStore implements AutoCloseable {

  /**
   * A pushed profile. {@code profile} has the unzipped bytes, and {@code zippedBytes} is the number
   * of bytes that were sent.
   */
  public record Pushed(
      String path, Headers headers, Map<String, String> labels, byte[] profile, int zippedBytes) {

    public String text() {
      return new String(profile, StandardCharsets.ISO_8859_1);
    }
  }

  private final HttpServer server;
  private final IntSupplier status;
  private final BlockingQueue<Pushed> requests = new LinkedBlockingQueue<>();

  /**
   * Starts a store on the loopback address.
   *
   * @param tls null for plain HTTP
   * @param port 0 for any free port
   * @param status returns the HTTP status of the next answer
   */
  public ProfileStore(@Nullable SSLContext tls, int port, IntSupplier status) throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    if (tls == null) {
      server = HttpServer.create(address, 0);
    } else {
      HttpsServer secured = HttpsServer.create(address, 0);
      secured.setHttpsConfigurator(new HttpsConfigurator(tls));
      server = secured;
    }
    this.status = status;
    server.createContext("/", this::handle);
    server.start();
  }

  public URI url() {
    String scheme = server instanceof HttpsServer ? "https" : "http";
    return URI.create(scheme + "://localhost:" + server.getAddress().getPort());
  }

  int port() {
    return server.getAddress().getPort();
  }

  public Pushed next() throws InterruptedException {
    Pushed pushed = requests.poll(60, TimeUnit.SECONDS);
    if (pushed == null) {
      throw new AssertionError("nothing was pushed");
    }
    return pushed;
  }

  public int waiting() {
    return requests.size();
  }

  private void handle(HttpExchange exchange) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    requests.add(parse(exchange, body));
    byte[] answer = "{\"code\":\"because\"}".getBytes(StandardCharsets.UTF_8);
    int code = status.getAsInt();
    exchange.sendResponseHeaders(code, code == 200 ? -1 : answer.length);
    if (code != 200) {
      exchange.getResponseBody().write(answer);
    }
    exchange.close();
  }

  /** Parses a {@code push.v1.PushRequest} of one series with one sample. */
  private static Pushed parse(HttpExchange exchange, byte[] request) throws IOException {
    Map<String, String> labels = new LinkedHashMap<>();
    byte[] zipped = {};
    for (Map.Entry<Integer, byte[]> field : fields(fields(request).get(0).getValue())) {
      List<Map.Entry<Integer, byte[]>> inner = fields(field.getValue());
      if (field.getKey() == 1) {
        labels.put(text(inner.get(0).getValue()), text(inner.get(1).getValue()));
      } else {
        zipped = inner.get(0).getValue();
      }
    }
    try (GZIPInputStream profile = new GZIPInputStream(new ByteArrayInputStream(zipped))) {
      return new Pushed(
          exchange.getRequestURI().getPath(),
          exchange.getRequestHeaders(),
          labels,
          profile.readAllBytes(),
          zipped.length);
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Returns the fields of a protobuf message. All fields must be length-delimited. */
  private static List<Map.Entry<Integer, byte[]>> fields(byte[] message) {
    List<Map.Entry<Integer, byte[]>> fields = new ArrayList<>();
    int[] at = {0};
    while (at[0] < message.length) {
      int tag = varint(message, at);
      if ((tag & 7) != 2) {
        throw new AssertionError("field of type " + (tag & 7));
      }
      int length = varint(message, at);
      fields.add(Map.entry(tag >> 3, Arrays.copyOfRange(message, at[0], at[0] + length)));
      at[0] += length;
    }
    return fields;
  }

  private static int varint(byte[] message, int[] at) {
    int value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = message[at[0]++];
      value |= (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
