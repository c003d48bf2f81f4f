package io.mallometer.samples.leaky;

import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.json.JsonMapper;

/**
 * The packaged service in a process of its own, with the library preloaded, on a free port of the
 * loopback interface.
 */
final class PreloadedService implements AutoCloseable {
  /** Disables the C2 compiler, whose native memory varies by many MiB while code is new. */
  private static final String QUIET_COMPILER = "-XX:TieredStopAtLevel=1";

  private static final Pattern STARTED = Pattern.compile("Tomcat started on port (\\d+)");
  private static final Duration START_LIMIT = Duration.ofSeconds(90);

  private final Process process;
  private final StringBuffer output = new StringBuffer();
  private final CompletableFuture<Integer> started = new CompletableFuture<>();
  private final HttpClient http = HttpClient.newHttpClient();
  private final JsonMapper json = new JsonMapper();
  private final int port;

  private PreloadedService(Process process) throws InterruptedException {
    this.process = process;
    Thread reader = new Thread(this::readOutput);
    reader.setDaemon(true);
    reader.start();
    this.port = awaitPort();
  }

  private void readOutput() {
    process
        .inputReader()
        .lines()
        .forEach(
            line -> {
              output.append(line).append('\n');
              Matcher port = STARTED.matcher(line);
              if (port.find()) {
                started.complete(Integer.valueOf(port.group(1)));
              }
            });
    started.completeExceptionally(new IOException("it has ended"));
  }

  static PreloadedService start(String... arguments) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                required("service.java"),
                "-Xmx96m",
                QUIET_COMPILER,
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-jar",
                required("service.jar"),
                "--server.port=0"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("LD_PRELOAD", required("preload.library"));
    return new PreloadedService(builder.start());
  }

  double metric(String name) {
    return metric(name, "");
  }

  double metric(String name, String label) {
    return get("/actuator/prometheus")
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .filter(line -> line.contains(label))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .reduce(Double::sum)
        .orElseThrow(() -> new AssertionError(name + " is not in the scrape"));
  }

  /** Switches a leak on or off. Returns the bytes that this leak has lost so far. */
  long turn(Leak leak, boolean on) {
    return lostBytes(post("/leaks/" + leak.label() + "?on=" + on));
  }

  String get(String path) {
    return send(HttpRequest.newBuilder(uri(path)));
  }

  String post(String path) {
    return send(HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.noBody()));
  }

  String output() {
    return output.toString();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private long lostBytes(String state) {
    return json.readTree(state).get("lostBytes").asLong();
  }

  private String send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> response =
          http.send(
              request.timeout(Duration.ofMinutes(1)).build(), HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new AssertionError(response + ": " + response.body());
      }
      return response.body();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  private int awaitPort() throws InterruptedException {
    try {
      return started.get(START_LIMIT.toSeconds(), SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      close();
      throw new AssertionError("the service did not start:\n" + output(), e);
    }
  }

  private static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalStateException("the build sets the system property " + property);
    }
    return value;
  }
}
