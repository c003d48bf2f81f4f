package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.agent.payload.http.ClientLimits;
import io.mallometer.agent.payload.http.Exchange;
import io.mallometer.agent.payload.http.HttpListener;
import io.mallometer.agent.payload.http.Request;
import io.mallometer.agent.payload.http.WorkerPool;
import io.mallometer.model.Setting;
import io.mallometer.page.Page;
import io.mallometer.view.Answer;
import io.mallometer.view.Answer.Outcome;
import io.mallometer.view.Answer.Told;
import io.mallometer.view.ParameterNames;
import io.mallometer.view.RefusalView;
import io.mallometer.view.RequestOrigin;
import io.mallometer.view.Views;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The agent's HTTP server. {@code /metrics} serves Prometheus' formats. {@code /nativememory} and
 * the paths below it serve the views of the Actuator endpoint and a page for people. {@code /}
 * redirects to the page.
 *
 * <p>Slow clients cannot delay health checks and metrics. The network thread answers health checks.
 * One thread answers only metrics, and waits for no client. Another thread checks new passwords,
 * which may take 0.5 s each. A few threads share all other answers, and may wait for their clients.
 */
final class AgentServer implements AutoCloseable {

  private static final int FOUND = 302;
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int NOT_ALLOWED = 405;

  private static final String THREAD = "mallometer-http-";
  private static final int THREADS = 4;
  private static final int WAITING = 32;

  /**
   * A header of the page's own requests. A page of another site can send it only after a preflight
   * request, which this server refuses.
   */
  private static final String OWN_HEADER = "X-Mallometer";

  private static final String ROOT = "nativememory";

  private static final String BASE = "/" + ROOT + "/";

  private static final String METRICS = "metrics";

  /**
   * A placeholder in a route: it stands for the last part of a path, such as the name of a view or
   * the number of a call site.
   */
  private static final String ANY_NAME = "{name}";

  @FunctionalInterface
  private interface Answering {
    void answer(Exchange exchange) throws IOException;
  }

  private volatile HttpListener listener;
  private final WorkerPool metrics = new WorkerPool(THREAD + METRICS, 1, Integer.MAX_VALUE);
  private final WorkerPool logins = new WorkerPool(THREAD + "login", 1, WAITING);
  private final WorkerPool others = new WorkerPool(THREAD + "views", THREADS, WAITING);
  private final Map<String, Consumer<Exchange>> routes = routes();

  private final Mallometer mallometer;
  private final ServerOptions options;
  private final Optional<Password> password;
  private final InetAddress host;
  private final Optional<SSLContext> tls;

  /**
   * The fields {@code views} and {@code scrapes} are null until a request needs them, because their
   * classes take long to load.
   */
  private @Nullable Views views;

  private @Nullable MetricsHandler scrapes;

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
    return new HttpListener(
        new InetSocketAddress(host, port), tls, ClientLimits.usual(), this::handle);
  }

  /**
   * Starts a server that answers from daemon threads.
   *
   * @throws IOException if it cannot listen, or the certificate cannot be read
   */
  static AgentServer start(Mallometer mallometer, ServerOptions options) throws IOException {
    AgentServer started = new AgentServer(mallometer, options);
    started.listener.start();
    return started;
  }

  private synchronized Views views() {
    @Nullable Views known = views;
    if (known == null) {
      known = new Views(mallometer, options.trimming(), options.searching());
      views = known;
    }
    return known;
  }

  /** Returns the handler of metrics. Only the thread for metrics calls this. */
  private MetricsHandler scrapes() {
    @Nullable MetricsHandler known = scrapes;
    if (known == null) {
      known = new MetricsHandler(mallometer);
      scrapes = known;
    }
    return known;
  }

  /** Stops listening until {@link #reopen}. Returns when all connections are closed. */
  void pause() {
    listener.close();
  }

  /**
   * Listens again at the address at which it listened before.
   *
   * @throws IOException if it cannot listen there
   */
  void reopen() throws IOException {
    HttpListener next = listen(listener.port());
    listener = next;
    next.start();
  }

  String address() {
    String scheme = options.certificate().isPresent() ? "https" : "http";
    return scheme + "://" + options.host() + ":" + listener.port();
  }

  @Override
  public void close() {
    listener.close();
    metrics.close();
    logins.close();
    others.close();
  }

  /** Handles a request on the network thread, which must not wait. */
  private void handle(Exchange exchange) {
    exchange.header("X-Content-Type-Options", "nosniff");
    exchange.header("Cache-Control", "no-store");
    // A click on the page can start a trim. No site may therefore show the page in a frame and
    // trick users into a click.
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

  /**
   * Returns the handlers by method and path. {@value #ANY_NAME} at the end of a path matches every
   * name that has no handler of its own. The handlers of GET also answer HEAD.
   */
  private Map<String, Consumer<Exchange>> routes() {
    Map<String, Consumer<Exchange>> all = new HashMap<>();
    all.put("GET /-/healthy", AgentServer::healthy);
    all.put("GET /" + METRICS, exchange -> exchange.in(metrics, () -> scrape(exchange)));
    all.put("GET /" + ROOT, shared(this::nativeMemory));
    all.put("GET /", AgentServer::redirect);
    all.put("GET " + BASE + "page", shared(AgentServer::page));
    all.put("GET " + BASE + ANY_NAME, shared(this::view));
    all.put("GET " + BASE + Views.TOGETHER + "/" + ANY_NAME, shared(this::together));
    all.put("GET " + BASE + Views.EVIDENCE, shared(this::evidence));
    all.put("POST " + BASE + Views.EVIDENCE, shared(this::evidence));
    all.put("POST " + BASE + "trim", shared(this::trim));
    all.put("POST " + BASE + "owners/" + ANY_NAME, shared(this::owners));
    all.put("POST " + BASE + "leaks/" + ANY_NAME, shared(exchange -> acknowledge(exchange, true)));
    all.put(
        "DELETE " + BASE + "leaks/" + ANY_NAME, shared(exchange -> acknowledge(exchange, false)));
    return Map.copyOf(all);
  }

  /** Answers a request on the shared threads, which do not serve health, metrics and logins. */
  private Consumer<Exchange> shared(Answering answering) {
    return exchange -> exchange.in(others, () -> answering.answer(exchange));
  }

  /**
   * Returns the HTTP methods and paths that the server answers. {@value #ANY_NAME} at the end of a
   * path is a placeholder for a name.
   */
  Set<String> addresses() {
    return routes.keySet();
  }

  private void route(Exchange exchange) {
    Request request = exchange.request();
    String method = request.headOnly() ? "GET" : request.method();
    String path = request.path();
    @Nullable Consumer<Exchange> exact = routes.get(method + " " + path);
    @Nullable Consumer<Exchange> route =
        exact == null ? routes.get(method + " " + parent(path) + ANY_NAME) : exact;
    if (route != null) {
      route.accept(exchange);
    } else if (method.equals("GET") && path.startsWith(BASE)) {
      exchange.in(others, () -> tell(exchange, Views.unknown(path.substring(BASE.length()))));
    } else if (method.equals("GET")) {
      exchange.plain(
          Outcome.UNKNOWN.status(),
          "there is nothing at this path; the page is at %spage, the views are below %s\n"
              .formatted(BASE, BASE));
    } else {
      exchange.plain(
          NOT_ALLOWED,
          method.equals("POST")
              ? "only trim, owners/NUMBER, leaks/NAME and evidence below " + BASE + " accept POST\n"
              : "only GET, HEAD and POST are allowed, and DELETE for leaks/NAME\n");
    }
  }

  private static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/') + 1);
  }

  private static String name(Request request) {
    return request.path().substring(parent(request.path()).length());
  }

  /**
   * Redirects to a relative address, which is valid also behind a proxy that adds a prefix to
   * paths.
   */
  private static void redirect(Exchange exchange) {
    exchange.header("Location", ROOT + "/page");
    exchange.plain(FOUND, "the page is at " + BASE + "page\n");
  }

  private static void healthy(Exchange exchange) {
    exchange.plain(Outcome.OK.status(), "mallometer is healthy\n");
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

  private void nativeMemory(Exchange exchange) throws IOException {
    answer(
        exchange,
        parameters -> {
          ParameterNames.check(ROOT, parameters.keySet(), List.of());
          return new Told(Outcome.OK, views().nativeMemory());
        });
  }

  private void view(Exchange exchange) throws IOException {
    String name = name(exchange.request());
    answer(exchange, parameters -> views().answer(name, parameters));
  }

  private void together(Exchange exchange) throws IOException {
    String names = name(exchange.request());
    answer(
        exchange,
        parameters -> {
          ParameterNames.check(Views.TOGETHER + "/" + names, parameters.keySet(), List.of());
          return views().together(names);
        });
  }

  private static void answer(Exchange exchange, Function<Map<String, String>, Answer> answering)
      throws IOException {
    tell(exchange, orWrong(() -> answering.apply(Parameters.of(exchange.request().query()))));
  }

  private static Answer orWrong(Supplier<? extends Answer> answering) {
    try {
      return answering.get();
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

  private void trim(Exchange exchange) throws IOException {
    change(exchange, options.trimming(), "trimming", Setting.ALLOW_TRIM, () -> views().trim());
  }

  private void acknowledge(Exchange exchange, boolean acknowledged) throws IOException {
    change(
        exchange,
        options.trimming(),
        "acknowledging",
        Setting.ALLOW_TRIM,
        () -> views().acknowledgeLeak(name(exchange.request()), acknowledged));
  }

  private void owners(Exchange exchange) throws IOException {
    String site = name(exchange.request());
    change(
        exchange,
        options.searching(),
        "searching the Java heap",
        Setting.ALLOW_OWNERS,
        () -> {
          Map<String, String> parameters = Parameters.of(exchange.request().query());
          ParameterNames.check("owners/" + site, parameters.keySet(), List.of("links"));
          return views().owners(site, parameters);
        });
  }

  /**
   * Makes a change, such as a trim. Refuses if {@code allowed} is false, if the request lacks the
   * header {@value #OWN_HEADER}, or if a page of another site sent the request.
   */
  private static void change(
      Exchange exchange, boolean allowed, String what, Setting<?> option, Supplier<Told> change)
      throws IOException {
    if (!allowed) {
      exchange.plain(
          FORBIDDEN,
          "%s is not allowed: start the agent with the option %s=true\n".formatted(what, option));
    } else if (exchange.request().header(OWN_HEADER) == null) {
      exchange.plain(FORBIDDEN, "a change needs the header " + OWN_HEADER + ", with any value\n");
    } else {
      Optional<Told> refusal = origin(exchange.request()).refusal();
      tell(exchange, refusal.isPresent() ? refusal.get() : orWrong(change));
    }
  }

  private void evidence(Exchange exchange) throws IOException {
    answer(
        exchange,
        parameters -> {
          ParameterNames.check(Views.EVIDENCE, parameters.keySet(), List.of());
          exchange.header("Content-Disposition", "attachment; filename=" + views().evidenceName());
          return views().evidence(options.given());
        });
  }

  private static RequestOrigin origin(Request request) {
    return new RequestOrigin(
        request.header(RequestOrigin.FETCH_SITE),
        request.header(RequestOrigin.ORIGIN),
        request.header("Host"));
  }

  private static void tell(Exchange exchange, Answer answer) throws IOException {
    send(exchange, answer.outcome().status(), answer.contentType(), answer.body());
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
    // The stream stays open after a failed write, because closing it would make a partial answer
    // look complete.
    OutputStream out = zipped ? new GZIPOutputStream(plain) : plain;
    body.writeTo(out);
    out.close();
  }
}
