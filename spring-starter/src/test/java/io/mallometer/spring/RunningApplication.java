package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

public record RunningApplication(ConfigurableApplicationContext context) implements AutoCloseable {

  private static final List<String> ARGUMENTS =
      List.of(
          "--server.port=0",
          "--server.address=127.0.0.1",
          "--spring.main.banner-mode=off",
          // The next property saves 2 s when a reactive application is closed.
          "--spring.reactor.netty.shutdown-quiet-period=0s",
          "--management.endpoints.web.exposure.include=prometheus,nativememory,metrics");

  private static final HttpClient client = newClient();

  public static RunningApplication start(String... arguments) {
    return start(new SpringApplication(TestApplication.class), arguments);
  }

  /** Starts an application with this bean, whether or not the library is preloaded. */
  static RunningApplication with(Mallometer mallometer, String... arguments) {
    SpringApplication application = new SpringApplication(TestApplication.class);
    application.addInitializers(
        context ->
            ((GenericApplicationContext) context)
                .registerBean("mallometer", Mallometer.class, () -> mallometer));
    return start(application, arguments);
  }

  static RunningApplication start(SpringApplication application, String... arguments) {
    return new RunningApplication(
        application.run(
            Stream.concat(ARGUMENTS.stream(), Arrays.stream(arguments)).toArray(String[]::new)));
  }

  String get(String path) {
    HttpResponse<String> response = response(path);
    if (response.statusCode() != 200) {
      throw new AssertionError(path + " answered " + response.statusCode() + response.body());
    }
    return response.body();
  }

  HttpResponse<String> response(String path) {
    return send("GET", "local.server.port", path);
  }

  int post(String path, String... headers) {
    return send("POST", "local.server.port", path, headers).statusCode();
  }

  /** Sends a request without a body. The headers are names and values in turn. */
  HttpResponse<String> send(String method, String portProperty, String path, String... headers) {
    return send(HttpResponse.BodyHandlers.ofString(), method, portProperty, path, headers);
  }

  /**
   * Returns a client with its own connections. A request with a body gets its own client: if Spring
   * WebFlux refuses the request without reading the body, Reactor Netty may not read another
   * request on the connection.
   */
  private static HttpClient newClient() {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  HttpResponse<byte[]> bytes(String path) {
    return send(HttpResponse.BodyHandlers.ofByteArray(), "GET", "local.server.port", path);
  }

  private <T> HttpResponse<T> send(
      HttpResponse.BodyHandler<T> body,
      String method,
      String portProperty,
      String path,
      String... headers) {
    String port = context.getEnvironment().getProperty(portProperty);
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofMinutes(1))
            .method(method, HttpRequest.BodyPublishers.noBody());
    HttpRequest request = (headers.length == 0 ? builder : builder.headers(headers)).build();
    try {
      return (method.equals("GET") ? client : newClient()).send(request, body);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(path + "\n" + allThreads(), e);
    }
  }

  /** Returns the stacks of all threads, to explain a missing answer. */
  private static String allThreads() {
    StringBuilder dump = new StringBuilder();
    Thread.getAllStackTraces()
        .forEach(
            (thread, stack) -> dump.append(thread).append(Arrays.toString(stack)).append('\n'));
    return dump.toString();
  }

  Map<String, Object> json(String path) {
    return JsonParserFactory.getJsonParser().parseMap(get(path));
  }

  /** Returns mallometer's values in the Prometheus scrape by series. */
  public Map<String, Double> scrape() {
    return get("/actuator/prometheus")
        .lines()
        .filter(line -> line.startsWith("native_") || line.startsWith("mallometer_"))
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.lastIndexOf(' ')),
                line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1))));
  }

  @Override
  public void close() {
    context.close();
  }
}
