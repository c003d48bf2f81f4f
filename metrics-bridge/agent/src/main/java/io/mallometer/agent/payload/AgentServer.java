package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.agent.payload.http.Exchange;
import io.mallometer.agent.payload.http.HttpListener;
import io.mallometer.agent.payload.http.Lane;
import io.mallometer.agent.payload.http.Limits;
import io.mallometer.agent.payload.http.Request;
import io.mallometer.page.Page;
import io.mallometer.view.Answer;
import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.ParameterNames;
import io.mallometer.view.RefusalView;
import io.mallometer.view.RequestOrigin;
import io.mallometer.view.View;
import io.mallometer.view.Views;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Prometheus' formats at {@code /metrics}, what the Actuator endpoint answers under the same names
 * beside it and below {@code /nativememory}, and the page for people at {@code /}.
 *
 * <p>Whatever other clients do, health and metrics are answered: health by the thread of the
 * network itself, and metrics by a thread that does nothing else and waits for no client. A
 * password that is not known to be right has a thread of its own as well, as it may take half a
 * second to check. All else shares a few threads, each of which may wait for its client.
 */
final class AgentServer implements AutoCloseable {

  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int NOT_ALLOWED = 405;

  private static final String THREAD = "mallometer-http-";
  private static final int THREADS = 4;
  private static final int WAITING = 32;

  /** Another site cannot make a browser send it without asking us first, which we refuse. */
  private static final String OWN_HEADER = "X-Mallometer";

  private static final String JSON = "application/json;charset=UTF-8";
  private static final String ROOT = "nativememory";
  private static final String HEALTHY = "-/healthy";
  private static final String METRICS = "metrics";

  private volatile HttpListener listener;
  private final Lane metrics = new Lane(THREAD + METRICS, 1, Integer.MAX_VALUE);
  private final Lane logins = new Lane(THREAD + "login", 1, WAITING);
  private final Lane others = new Lane(THREAD + "views", THREADS, WAITING);

  private final Mallometer mallometer;
  private final ServerOptions options;
  private final Optional<Password> password;
  private final InetAddress host;
  private final Optional<SSLContext> tls;

  /** Null before the first request for it, as is the next: both take the JDK long to load. */
  private @Nullable Views views;

  private @Nullable Scrapes scrapes;

  private AgentServer(Mallometer mallometer, ServerOptions options) throws IOException {
    this.mallometer = mallometer;
    this.options = options;
    this.password = options.login().map(Password::new);
    this.tls =
        options.certificate().isEmpty()
            ? Optional.empty()
            : Optional.of(Tls.of(options.certificate().get()));
    this.host = InetAddress.getByName(options.host());
    this.listener = listen(options.port());
  }

  private HttpListener listen(int port) throws IOException {
    return new HttpListener(new InetSocketAddress(host, port), tls, Limits.usual(), this::handle);
  }

  /**
   * Listens, and answers from daemon threads.
   *
   * @throws IOException if it cannot listen there, or the certificate cannot be read
   */
  static AgentServer start(Mallometer mallometer, ServerOptions options) throws IOException {
    AgentServer started = new AgentServer(mallometer, options);
    started.listener.start();
    return started;
  }

  private synchronized Views views() {
    @Nullable Views known = views;
    if (known == null) {
      known = new Views(mallometer, options.trimming());
      views = known;
    }
    return known;
  }

  /** Only by the thread that answers scrapes. */
  private Scrapes scrapes() {
    @Nullable Scrapes known = scrapes;
    if (known == null) {
      known = new Scrapes(mallometer);
      scrapes = known;
    }
    return known;
  }

  /** Listens no longer until {@link #reopen}; returns when all connections are closed. */
  void pause() {
    listener.close();
  }

  /**
   * Listens again at the same address.
   *
   * @throws IOException if it cannot
   */
  void reopen() throws IOException {
    HttpListener next = listen(listener.port());
    listener = next;
    next.start();
  }

  /** Where it listens. */
  String address() {
    String scheme = options.certificate().isPresent() ? "https" : "http";
    return scheme + "://" + options.host() + ":" + listener.port();
  }

  /** Listens no longer. */
  @Override
  public void close() {
    listener.close();
    metrics.close();
    logins.close();
    others.close();
  }

  /** Called by the thread of the network, which must not wait. */
  private void handle(Exchange exchange) {
    exchange.header("X-Content-Type-Options", "nosniff");
    exchange.header("Cache-Control", "no-store");
    // A click on the page may trim: nobody is to lay another page over it.
    exchange.header("X-Frame-Options", "DENY");
    @Nullable String authorization = exchange.request().header("Authorization");
    if (password.isEmpty() || (authorization != null && password.get().knows(authorization))) {
      route(exchange);
    } else if (authorization == null) {
      refuseLogin(exchange);
    } else {
      exchange.in(logins, () -> admit(password.get().admits(authorization), exchange));
    }
  }

  private void admit(boolean right, Exchange exchange) {
    if (right) {
      route(exchange);
    } else {
      refuseLogin(exchange);
    }
  }

  private static void refuseLogin(Exchange exchange) {
    exchange.header("WWW-Authenticate", Password.CHALLENGE);
    exchange.plain(
        UNAUTHORIZED,
        "a login is required: the username and password that the agent's options set\n");
  }

  private void route(Exchange exchange) {
    String path = exchange.request().path().substring(1);
    switch (exchange.request().method()) {
      case "GET", "HEAD" -> {
        if (path.equals(HEALTHY)) {
          exchange.plain(Outcome.OK.status(), "mallometer is healthy\n");
        } else if (path.equals(METRICS)) {
          exchange.in(metrics, () -> scrape(exchange));
        } else {
          exchange.in(others, () -> get(exchange, path));
        }
      }
      case "POST" -> exchange.in(others, () -> post(exchange, path));
      default -> exchange.plain(NOT_ALLOWED, "only GET, HEAD and POST are allowed\n");
    }
  }

  private void scrape(Exchange exchange) throws IOException {
    Set<String> names;
    try {
      names = Parameters.only(METRICS, "name[]", exchange.request().query());
    } catch (IllegalArgumentException e) {
      tell(exchange, wrong(e));
      return;
    }
    scrapes().answer(names, exchange);
  }

  private void get(Exchange exchange, String path) throws IOException {
    String name = path.startsWith(ROOT + "/") ? path.substring(ROOT.length() + 1) : path;
    if (name.isEmpty() || name.equals("page")) {
      page(exchange);
      return;
    }
    Answer answer = answer(name, exchange.request().query());
    if (answer instanceof Answer.Exported export) {
      send(exchange, Outcome.OK.status(), export.contentType(), export.body());
    } else {
      tell(exchange, (Told) answer);
    }
  }

  private Answer answer(String name, @Nullable String query) {
    String several = Views.TOGETHER + "/";
    try {
      Map<String, String> parameters = Parameters.of(query);
      if (name.equals(ROOT) || name.startsWith(several)) {
        ParameterNames.check(name, parameters.keySet(), List.of());
      }
      if (name.equals(ROOT)) {
        return new Told(Outcome.OK, views().nativeMemory());
      }
      return name.startsWith(several)
          ? views().together(name.substring(several.length()))
          : views().answer(name, parameters);
    } catch (IllegalArgumentException e) {
      return wrong(e);
    }
  }

  private static Told wrong(IllegalArgumentException e) {
    return new Told(Outcome.WRONG, new RefusalView(String.valueOf(e.getMessage())));
  }

  private static void page(Exchange exchange) throws IOException {
    byte[] page = Page.bytes(new Page.Token(OWN_HEADER, "page"));
    send(exchange, Outcome.OK.status(), Page.CONTENT_TYPE, out -> out.write(page));
  }

  private void post(Exchange exchange, String path) throws IOException {
    if (!path.equals("trim") && !path.equals(ROOT + "/trim")) {
      exchange.plain(NOT_ALLOWED, "POST is allowed for /trim only\n");
    } else if (!options.trimming()) {
      exchange.plain(
          FORBIDDEN, "trimming is not allowed: start the agent with the option trim=true\n");
    } else if (exchange.request().header(OWN_HEADER) == null) {
      exchange.plain(FORBIDDEN, "a POST needs the header " + OWN_HEADER + ", with any value\n");
    } else {
      tell(exchange, origin(exchange.request()).refusal().orElseGet(() -> views().trim()));
    }
  }

  private static RequestOrigin origin(Request request) {
    return new RequestOrigin(
        request.header(RequestOrigin.FETCH_SITE),
        request.header(RequestOrigin.ORIGIN),
        request.header("Host"));
  }

  private static void tell(Exchange exchange, Told told) throws IOException {
    send(exchange, told.outcome().status(), JSON, out -> write(told.view(), out));
  }

  private static void write(View view, OutputStream out) throws IOException {
    Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    view.write(text);
    text.flush();
  }

  private static void send(Exchange exchange, int status, String type, Answer.Body body)
      throws IOException {
    exchange.header("Content-Type", type);
    boolean zipped = Parameters.accepts(exchange.request());
    if (zipped) {
      exchange.header("Content-Encoding", "gzip");
    }
    OutputStream plain = exchange.begin(status);
    if (exchange.request().headOnly()) {
      plain.close();
      return;
    }
    if (body instanceof Answer.Written written) {
      plain.write(zipped ? written.zipped() : written.bytes());
      plain.close();
      return;
    }
    // Not closed when writing fails: half an answer must not look like a whole one.
    OutputStream out = zipped ? new GZIPOutputStream(plain) : plain;
    body.writeTo(out);
    out.close();
  }
}
