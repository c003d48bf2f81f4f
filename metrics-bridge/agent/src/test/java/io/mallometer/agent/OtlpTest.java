package io.mallometer.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.mallometer.Certificates;
import io.mallometer.ChildJvm;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs an application under the agent, and receives the metrics that the agent pushes.
 * OpenTelemetry's own classes parse the metrics.
 */
@Tag("process")
@Tag("any-jdk")
class OtlpTest {

  /**
   * A property of the JVM's JMX server, which makes the agent start the exporter at once. Without
   * it, the agent waits until the application uses JMX, or for 10 s.
   */
  private static final String JMX_IS_USED = "-Dcom.sun.management.any=1";

  private final BlockingQueue<ExportMetricsServiceRequest> pushes = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> tokens = new LinkedBlockingQueue<>();

  @TempDir private Path directory;
  private @Nullable HttpServer receiver;

  @AfterEach
  void stop() {
    if (receiver != null) {
      receiver.stop(0);
    }
  }

  @Test
  void everyMeterIsPushedByAnExporterThatTheAgentDoesNotCarry() throws Exception {
    String url = receive(HttpServer.create());
    Path config =
        Files.writeString(
            directory.resolve("config"),
            "otlp:\n  headers: Authorization=Bearer t\n  attributes: service.name=leaky\n");
    Process application =
        UnderAgent.start(
            directory,
            "otlp.interval=1s,otlp.url=%s,otlp.path=%s,config=%s"
                .formatted(url, exporter(), config),
            // The verifier also loads classes, and the test is about which classes are loaded.
            "-XX:+BytecodeVerificationRemote",
            "-Xlog:class+load");
    try {
      ExportMetricsServiceRequest push =
          awaitPushOf("native.malloc.live", "native.malloc.requested");
      assertThat(output(directory).split("io\\.mallometer\\.jfr\\.NativeMemoryEvents ")[0])
          .as("classes loaded before the application has set up its logging")
          .contains("io.mallometer.agent.payload.LateRegistration ")
          .doesNotContain("java.util.logging.LogManager$RootLogger ", "io.opentelemetry.");
      assertThat(tokens.poll()).isEqualTo("Bearer t");
      assertThat(push.getResourceMetrics(0).getResource().toString()).contains("leaky");
      Map<String, Metric> metrics =
          push.getResourceMetricsList().stream()
              .flatMap(resource -> resource.getScopeMetricsList().stream())
              .flatMap(scope -> scope.getMetricsList().stream())
              .collect(Collectors.toMap(Metric::getName, Function.identity()));
      // A push also contains the exporter's own metrics from the second collection on.
      assertThat(metrics.keySet())
          .allMatch(name -> name.matches("(native|cgroup|mallometer|otel\\.sdk)\\..*"));
      assertThat(metrics.get("native.malloc.live").getUnit()).isEqualTo("By");
      assertThat(metrics.get("native.malloc.live").getGauge().getDataPoints(0).getAsDouble())
          .isGreaterThan(1 << 20);
      assertThat(metrics.get("native.malloc.requested").getSum().getIsMonotonic()).isTrue();
      assertThat(pushes.poll(60, TimeUnit.SECONDS)).isNotNull();
    } finally {
      application.destroyForcibly().waitFor();
    }
  }

  @Test
  void withoutTheExporterTheApplicationRunsAndTheLineSaysWhy() throws Exception {
    Process application =
        UnderAgent.start(
            directory,
            "otlp.url=http://127.0.0.1:9/v1/metrics,otlp.path=" + directory,
            JMX_IS_USED);
    try {
      awaitOutput(directory, "cannot push metrics to");
      assertThat(application.isAlive()).isTrue();
      assertThat(output(directory)).contains("lacks a jar of OpenTelemetry's exporter", "runs");
    } finally {
      application.destroyForcibly().waitFor();
    }
  }

  @Test
  void overTlsTheReceiverIsTrustedByItsCertificateAndNoOther() throws Exception {
    Path keys = directory.resolve("keys.p12");
    Certificates.keytool(keys, "ours");
    Path others = directory.resolve("others.p12");
    Certificates.keytool(others, "other");
    HttpsServer secured = HttpsServer.create();
    secured.setHttpsConfigurator(new HttpsConfigurator(Certificates.serving(keys)));
    String options =
        "otlp.interval=1s,otlp.url=%s,otlp.path=%s,otlp.certificates="
            .formatted(receive(secured), exporter());
    Path wary = Files.createDirectory(directory.resolve("wary"));
    Process distrusting =
        UnderAgent.start(wary, options + Certificates.pem(others, "other"), JMX_IS_USED);
    Process trusting = null;
    try {
      awaitOutput(wary, "Failed to export metrics");
      assertThat(output(wary)).contains("SSLHandshakeException");
      assertThat(distrusting.isAlive()).isTrue();
      assertThat(pushes).isEmpty();

      trusting = UnderAgent.start(directory, options + Certificates.pem(keys, "ours"), JMX_IS_USED);
      awaitPushOf("native.malloc.live");
    } finally {
      distrusting.destroyForcibly().waitFor();
      if (trusting != null) {
        trusting.destroyForcibly().waitFor();
      }
    }
  }

  /**
   * Waits for a push that contains these metrics. The first push may come while the meters are
   * being registered.
   */
  private ExportMetricsServiceRequest awaitPushOf(String... metrics) throws Exception {
    ExportMetricsServiceRequest push;
    do {
      push = pushes.poll(60, TimeUnit.SECONDS);
      assertThat(push).as(output(directory)).isNotNull();
    } while (!Stream.of(metrics).allMatch(push.toString()::contains));
    return push;
  }

  private String receive(HttpServer server) throws IOException {
    receiver = server;
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/metrics",
        exchange -> {
          tokens.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          pushes.add(
              ExportMetricsServiceRequest.parseFrom(
                  new GZIPInputStream(exchange.getRequestBody())));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
    String scheme = server instanceof HttpsServer ? "https" : "http";
    return scheme + "://127.0.0.1:" + server.getAddress().getPort() + "/v1/metrics";
  }

  /** Returns a directory of jars like that of {@code mvn dependency:copy-dependencies}. */
  private Path exporter() throws IOException {
    Path jars = Files.createDirectory(directory.resolve("exporter"));
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path jar = Path.of(entry);
      if (jar.getFileName().toString().matches("opentelemetry-(?!proto).*\\.jar")) {
        Files.copy(jar, jars.resolve(jar.getFileName()));
      }
    }
    return jars;
  }

  private static void awaitOutput(Path directory, String text) throws Exception {
    boolean found = ChildJvm.await(() -> output(directory).contains(text));
    assertThat(found).as(output(directory)).isTrue();
  }

  private static String output(Path directory) throws IOException {
    Path output = directory.resolve("output");
    return Files.exists(output) ? Files.readString(output) : "";
  }
}
