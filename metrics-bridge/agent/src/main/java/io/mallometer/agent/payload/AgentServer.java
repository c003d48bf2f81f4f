package io.mallometer.agent.payload;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.mallometer.Mallometer;
import io.mallometer.page.Page;
import io.mallometer.prometheus.NativeMemoryCollector;
import io.mallometer.view.Answer;
import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.RequestOrigin;
import io.mallometer.view.View;
import io.mallometer.view.Views;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.HTTPServer.HTTPMetricHandler;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Prometheus' formats at {@code /metrics}, what the Actuator endpoint answers under the same names
 * beside it and below {@code /nativememory}, and the page for people at {@code /}.
 *
 * <p>The JDK's server has a thread that listens and one for its clocks. At most two more answer;
 * they come with a request and end when there was none for some seconds.
 */
final class AgentServer implements AutoCloseable {

  private static final int THREADS = 2;
  private static final int WAITING = 32;
  private static final int IDLE_SECONDS = 10;
  private static final int NOT_ALLOWED = 405;
  private static final int FORBIDDEN = 403;
  private static final int FAILED = 500;

  /** Another site cannot make a browser send it without asking us first, which we refuse. */
  private static final String OWN_HEADER = "X-Mallometer";

  private static final String JSON = "application/json;charset=UTF-8";
  private static final String TEXT = "text/plain;charset=UTF-8";
  private static final String ROOT = "nativememory";

  private final HttpServer server;
  private final ThreadPoolExecutor executor;
  private final Mallometer mallometer;
  private final ServerOptions options;

  /** Null before the first request: what answers takes the JDK as long to load as the server. */
  private @Nullable Faces faces;

  private record Faces(Views views, HttpHandler metrics) {}

  private AgentServer(HttpServer server, Mallometer mallometer, ServerOptions options) {
    this.server = server;
    this.options = options;
    this.mallometer = mallometer;
    this.executor =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(WAITING),
            daemons());
    executor.allowCoreThreadTimeOut(true);
  }

  /**
   * Listens, and answers from daemon threads.
   *
   * @throws IOException if it cannot listen there, or the certificate cannot be read
   */
  static AgentServer start(Mallometer mallometer, ServerOptions options) throws IOException {
    AgentServer started = new AgentServer(listening(options), mallometer, options);
    started.begin();
    return started;
  }

  private synchronized Faces faces() {
    @Nullable Faces known = faces;
    if (known == null) {
      CollectorRegistry registry = new CollectorRegistry();
      registry.register(new NativeMemoryCollector(mallometer));
      registry.register(new JvmCollector());
      known = new Faces(new Views(mallometer, options.trimming()), new HTTPMetricHandler(registry));
      faces = known;
    }
    return known;
  }

  private static HttpServer listening(ServerOptions options) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(options.host()), options.port());
    if (options.certificate().isEmpty()) {
      return HttpServer.create(address, 0);
    }
    HttpsConfigurator tls = new HttpsConfigurator(Tls.of(options.certificate().get()));
    HttpsServer server = HttpsServer.create(address, 0);
    server.setHttpsConfigurator(tls);
    return server;
  }

  private void begin() {
    HttpContext everything = server.createContext("/", this::handle);
    options.login().map(Password::new).ifPresent(everything::setAuthenticator);
    server.setExecutor(executor);
    // The thread that listens is a daemon if the one that starts it is.
    Thread starter = daemons().newThread(server::start);
    starter.start();
    try {
      starter.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static ThreadFactory daemons() {
    return work -> {
      Thread thread = new Thread(null, work, "mallometer-http", 0, false);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Where it listens. */
  String address() {
    InetSocketAddress address = server.getAddress();
    String scheme = options.certificate().isPresent() ? "https" : "http";
    return scheme + "://" + options.host() + ":" + address.getPort();
  }

  /** Listens no longer. */
  @Override
  public void close() {
    server.stop(0);
    executor.shutdown();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      exchange.getResponseHeaders().set("Cache-Control", "no-store");
      // A click on the page may trim: nobody is to lay another page over it.
      exchange.getResponseHeaders().set("X-Frame-Options", "DENY");
      String path = exchange.getRequestURI().getPath();
      switch (exchange.getRequestMethod()) {
        case "GET", "HEAD" -> get(exchange, path.substring(1));
        case "POST" -> post(exchange, path.substring(1));
        default -> plain(exchange, NOT_ALLOWED, "only GET, HEAD and POST are understood\n");
      }
    } catch (RuntimeException | LinkageError e) {
      // The server would close the connection without a word.
      plain(exchange, FAILED, "mallometer failed: " + e + "\n");
    }
  }

  private void get(HttpExchange exchange, String path) throws IOException {
    switch (path) {
      case "metrics" -> faces().metrics().handle(exchange);
      case "-/healthy" -> plain(exchange, Outcome.OK.status(), "mallometer is healthy\n");
      case "", "page", ROOT + "/page" -> page(exchange);
      case ROOT -> tell(exchange, Outcome.OK.status(), faces().views().nativeMemory());
      default ->
          answer(exchange, path.startsWith(ROOT + "/") ? path.substring(ROOT.length() + 1) : path);
    }
  }

  private void answer(HttpExchange exchange, String name) throws IOException {
    Answer answer = answer(name, exchange.getRequestURI().getRawQuery());
    if (answer instanceof Answer.Exported export) {
      send(exchange, Outcome.OK.status(), export.contentType(), export.body());
    } else {
      tell(exchange, answer.outcome().status(), ((Told) answer).view());
    }
  }

  private Answer answer(String name, @Nullable String query) {
    String several = Views.TOGETHER + "/";
    return name.startsWith(several)
        ? faces().views().together(name.substring(several.length()))
        : faces().views().answer(name, Parameters.of(query));
  }

  private static void page(HttpExchange exchange) throws IOException {
    byte[] page = Page.bytes(new Page.Token(OWN_HEADER, "page"));
    send(exchange, Outcome.OK.status(), Page.CONTENT_TYPE, out -> out.write(page));
  }

  private void post(HttpExchange exchange, String path) throws IOException {
    if (!path.equals("trim") && !path.equals(ROOT + "/trim")) {
      plain(exchange, NOT_ALLOWED, "there is nothing to POST to but /trim\n");
    } else if (!options.trimming()) {
      plain(exchange, FORBIDDEN, "the agent's option trim=true allows it\n");
    } else if (exchange.getRequestHeaders().getFirst(OWN_HEADER) == null) {
      plain(exchange, FORBIDDEN, "a POST needs the header " + OWN_HEADER + "\n");
    } else {
      Told told = origin(exchange).refusal().orElseGet(() -> faces().views().trim());
      tell(exchange, told.outcome().status(), told.view());
    }
  }

  private static RequestOrigin origin(HttpExchange exchange) {
    Headers headers = exchange.getRequestHeaders();
    return new RequestOrigin(
        headers.getFirst(RequestOrigin.FETCH_SITE),
        headers.getFirst(RequestOrigin.ORIGIN),
        headers.getFirst("Host"));
  }

  private static void tell(HttpExchange exchange, int status, View view) throws IOException {
    send(exchange, status, JSON, out -> write(view, out));
  }

  private static void write(View view, OutputStream out) throws IOException {
    Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    view.write(text);
    text.flush();
  }

  private static void plain(HttpExchange exchange, int status, String text) throws IOException {
    send(exchange, status, TEXT, out -> out.write(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static void send(HttpExchange exchange, int status, String type, Answer.Body body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    boolean zipped = Parameters.accepts(exchange, "gzip");
    if (zipped) {
      exchange.getResponseHeaders().set("Content-Encoding", "gzip");
    }
    if (body instanceof Answer.Written written) {
      byte[] bytes = zipped ? written.zipped() : written.bytes();
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
      return;
    }
    exchange.sendResponseHeaders(status, 0);
    OutputStream plain = exchange.getResponseBody();
    // Not closed when writing fails: half an answer must not look like a whole one.
    OutputStream out = zipped ? new GZIPOutputStream(plain) : plain;
    body.writeTo(out);
    out.close();
  }
}
