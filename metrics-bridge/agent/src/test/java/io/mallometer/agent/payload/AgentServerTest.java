package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.Certificates;
import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Published;
import io.mallometer.SitesByHand;
import io.mallometer.view.View;
import io.mallometer.view.Views;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the agent's server with a fake Mallometer, which needs no preloaded library. */
@Tag("any-jdk")
class AgentServerTest {

  private static final ServerOptions OPTIONS = options(Map.of());

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  @TempDir private Path directory;

  private Optional<AgentServer> server = Optional.empty();
  private HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void stop() {
    server.ifPresent(AgentServer::close);
    mallometer.close();
  }

  /** The agent must answer as the Actuator endpoint does. */
  @Test
  void theJsonIsWhatTheViewsWrite() throws Exception {
    start(OPTIONS);
    // The second reading makes the rates known. They stay constant afterwards, because the clock
    // stands still.
    mallometer.sites().read();
    mallometer.advance(Duration.ofSeconds(2));
    mallometer.sites().read();
    Views views = new Views(mallometer);

    assertThat(get("/nativememory").body()).isEqualTo(json(views.nativeMemory()));
    for (String name : Views.NAMES) {
      assertThat(withoutPause(get("/nativememory/" + name).body()))
          .isEqualTo(withoutPause(json(views.view(name).orElseThrow())));
    }
    assertThat(get("/nativememory/sites?group=library&limit=1").body())
        .contains("\"grouping\":\"library\"", "\"matching\":2");
  }

  /** Removes the estimate of a pause, because it depends on the heap. */
  private static String withoutPause(String json) {
    return json.replaceAll("\"pauseSeconds\":[^,}]+", "");
  }

  /** Dashboards and alerts use these metrics. Without Micrometer only the agent publishes them. */
  @Test
  void whatTheDashboardsAskOfTheJvmIsThereUnderMicrometersNames() throws Exception {
    start(OPTIONS);

    String text = get("/metrics").body();

    assertThat(text)
        .containsPattern("(?m)^process_start_time_seconds 1\\.\\d+E9$")
        .containsPattern("(?m)^system_cpu_count [1-9]")
        .containsPattern("(?m)^jvm_threads_live_threads [1-9]");
    for (String figure : List.of("used", "committed", "max")) {
      for (String area : List.of("heap", "nonheap")) {
        assertThat(text)
            .containsPattern(
                "(?m)^jvm_memory_"
                    + figure
                    + "_bytes\\{area=\""
                    + area
                    + "\",id=\"[^\"]+\",?\\} \\d");
      }
    }
    assertThat(text).doesNotContainPattern("(?m)^jvm_memory_max_bytes.* -1");
  }

  @Test
  void prometheusGetsTextOrOpenMetricsAndOnlyTheNamesItAsksFor() throws Exception {
    start(OPTIONS);

    HttpResponse<String> text = get("/metrics");
    assertThat(text.headers().firstValue("X-Frame-Options")).contains("DENY");
    assertThat(type(text)).startsWith("text/plain; version=0.0.4");
    assertThat(Published.parse(text.body()))
        .anyMatch(sample -> sample.name().equals("native_malloc_live_bytes"));
    HttpResponse<String> open = get("/metrics", "Accept", "application/openmetrics-text");
    assertThat(type(open)).startsWith("application/openmetrics-text");
    assertThat(open.body()).endsWith("# EOF\n");
    String some = get("/metrics?name[]=mallometer_active").body();
    assertThat(some.lines().filter(line -> !line.startsWith("#")))
        .containsExactly("mallometer_active 1.0");
  }

  @Test
  void answersAreZippedForClientsThatAcceptIt() throws Exception {
    start(OPTIONS);

    for (String path :
        List.of(
            "/metrics",
            "/nativememory/breakdown",
            "/nativememory/overview",
            "/nativememory/views/overview,trends",
            "/nativememory/flamegraph")) {
      HttpResponse<byte[]> zipped =
          client.send(request(path, "Accept-Encoding", "gzip").build(), BodyHandlers.ofByteArray());
      assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
      try (GZIPInputStream body = new GZIPInputStream(new ByteArrayInputStream(zipped.body()))) {
        assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8)).isNotEmpty();
      }
    }
    assertThat(get("/nativememory/breakdown", "Accept-Encoding", "gzip;q=0").body())
        .startsWith("{");
  }

  @Test
  void thePageAndTheReportsComeInTheirTypes() throws Exception {
    start(OPTIONS);

    assertThat(get("/").statusCode()).isEqualTo(302);
    assertThat(get("/").headers().firstValue("Location")).contains("nativememory/page");
    assertThat(get("/breakdown").statusCode()).isEqualTo(404);
    assertThat(type(get("/nativememory/page"))).startsWith("text/html");
    assertThat(get("/nativememory/page").headers().firstValue("X-Frame-Options")).contains("DENY");
    assertThat(type(get("/nativememory/flamegraph"))).startsWith("text/html");
    assertThat(type(get("/nativememory/collapsed"))).startsWith("text/plain");
    assertThat(type(get("/nativememory/pprof"))).isEqualTo("application/octet-stream");
  }

  @Test
  void theCallSitesOfThePeakAreAnsweredAfterIt() throws Exception {
    start(OPTIONS);
    assertThat(get("/nativememory/sites?at=peak").body())
        .contains("no call sites have been stored yet");

    mallometer.setSites(
        SitesByHand.reading(SitesByHand.site(7, "com.shop.Cart.zip", "libzip.so", 300_000)));
    mallometer.keepPeak();
    mallometer.advance(Duration.ofMinutes(2));
    mallometer.setSites(
        SitesByHand.reading(SitesByHand.site(7, "com.shop.Cart.zip", "libzip.so", 1_000)));

    assertThat(get("/nativememory/sites").body()).contains("\"liveBytes\":{\"value\":1000,");
    assertThat(get("/nativememory/sites?at=peak").body())
        .contains("\"liveBytes\":{\"value\":300000,");
    assertThat(get("/nativememory/collapsed?at=peak").body())
        .contains("com.shop.Cart.zip", " 300000");
    assertThat(get("/nativememory/sites?at=95").body())
        .contains("95 % of the memory limit was not exceeded");
    assertThat(get("/nativememory/sites?at=noon").statusCode()).isEqualTo(400);
  }

  @Test
  void whatMakesNoSenseIsRefusedWithTheReason() throws Exception {
    start(OPTIONS);

    assertThat(get("/nativememory/sites?limit=many").statusCode()).isEqualTo(400);
    assertThat(get("/nativememory/pprof?metric=resident").body())
        .contains("metric=resident is a figure of now, in the formats flamegraph and collapsed");
    assertThat(get("/nativememory/flamegraph?metric=resident&at=peak").statusCode()).isEqualTo(400);
    // A simulated process has no /proc directory, so its resident set cannot be read.
    assertThat(get("/nativememory/flamegraph?metric=resident").statusCode()).isEqualTo(501);
    assertThat(get("/nativememory/nonsense").statusCode()).isEqualTo(404);
    assertThat(get("/nativememory/nonsense").body())
        .contains(
            "there is no 'nonsense'; there are breakdown", "; and page, evidence, and views/NAME");
    assertThat(get("/nativememory/a/b").body()).contains("there are breakdown");
    assertThat(get("/nativememory/sites?from=500").statusCode()).isEqualTo(400);
    assertThat(get("/nativememory/sites?from=500").body())
        .contains("a duration before now such as 10m");
    assertThat(send("PUT", "/nativememory/trim").statusCode()).isEqualTo(405);
    assertThat(send("POST", "/nativememory/nonsense").body())
        .isEqualTo(
            "only trim, owners/NUMBER, leaks/NAME and evidence below /nativememory/ accept POST\n");
  }

  /** A server with an incomplete login would be open to everybody. */
  @ParameterizedTest
  @ValueSource(strings = {"username", "password", "password-hash", "salt", "iterations"})
  void aPartOfALoginIsRefused(String option) {
    Map<String, String> given = Map.of("http-server.authentication.basic." + option, "12");

    assertThatThrownBy(() -> options(given))
        .hasMessageContaining("http-server.authentication.basic.");
  }

  @Test
  void evidenceIsAZipThatIsNamedAfterProcessAndTime() throws Exception {
    start(
        options(
            Map.of(
                "http-server.authentication.basic.username", "Prometheus",
                "http-server.authentication.basic.password", "secret")));

    for (String method : List.of("GET", "POST")) {
      HttpResponse<byte[]> zip =
          client.send(
              request("/nativememory/evidence", "Authorization", basic("Prometheus:secret"))
                  .method(method, HttpRequest.BodyPublishers.noBody())
                  .build(),
              BodyHandlers.ofByteArray());
      assertThat(zip.statusCode()).as(method).isEqualTo(200);
      assertThat(zip.headers().firstValue("Content-Type")).contains("application/zip");
      assertThat(zip.headers().firstValue("Content-Disposition").orElse(""))
          .matches(
              "attachment; filename=mallometer-%d-\\d{8}-\\d{6}\\.zip"
                  .formatted(ProcessHandle.current().pid()));
      String settings = "";
      ZipInputStream entries = new ZipInputStream(new ByteArrayInputStream(zip.body()));
      for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
        if (entry.getName().equals("settings.json")) {
          settings = new String(entries.readAllBytes(), StandardCharsets.UTF_8);
        }
      }
      assertThat(settings)
          .contains("http-server.authentication.basic.password")
          .doesNotContain("secret\"", "Prometheus");
    }
  }

  /** Ignoring a misspelt parameter would silently return a wrong answer. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/nativememory/sites?top=-1 | sites has no parameter 'top'; it has sort, group, filter, owner, limit,"
            + " from, to",
        "/nativememory/sites?limit=5&tpo=5 | sites has no parameter 'tpo'",
        "/nativememory/sites?LIMIT=5 | sites has no parameter 'LIMIT'",
        "/nativememory/breakdown?limit=5 | breakdown has no parameter 'limit'; it has none",
        "/nativememory/leaks?limit=5 | leaks has no parameter 'limit'; it has all, owner, format",
        "/nativememory/table?limit=5 | table has no parameter 'limit'; it has metric, filter",
        "/nativememory?limit=5 | nativememory has no parameter 'limit'; it has none",
        "/nativememory/evidence?all=true | evidence has no parameter 'all'; it has none",
        "/nativememory/views/leaks?all=true | views/leaks has no parameter 'all'; it has none",
        "/metrics?name=x | metrics has no parameter 'name'; it has name[]",
      })
  void anUnknownParameterIsRefusedWithTheNamesOfTheKnownOnes(String path, String reason)
      throws Exception {
    start(OPTIONS);

    HttpResponse<String> answer = get(path);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(type(answer)).startsWith("application/json");
    assertThat(answer.body()).contains(reason);
  }

  @Test
  void searchingForOwnersIsAllowedByAnOptionAndNotFromOtherSites() throws Exception {
    start(options(Map.of("allow-trim", "true")));
    assertThat(send("POST", "/nativememory/owners/7", "X-Mallometer", "test").body())
        .contains("start the agent with the option allow-owners=true");
    assertThat(send("GET", "/nativememory/owners").body()).contains("\"allowed\":false");

    start(options(Map.of("allow-owners", "true")));
    assertThat(send("GET", "/nativememory/owners").body()).contains("\"allowed\":true");
    assertThat(send("POST", "/nativememory/owners/7").statusCode()).isEqualTo(403);
    String[] elsewhere = {"X-Mallometer", "test", "Origin", "http://evil.example"};
    assertThat(send("POST", "/nativememory/owners/7", elsewhere).body())
        .contains("it comes from http://evil");
    assertThat(send("POST", "/nativememory/owners/seven", "X-Mallometer", "test").statusCode())
        .isEqualTo(400);
    assertThat(send("POST", "/nativememory/owners/7?links=9", "X-Mallometer", "test").statusCode())
        .isEqualTo(400);
    // Clients of the server cannot raise the limit on pauses, so the parameter is refused.
    assertThat(send("POST", "/nativememory/owners/7?pause=9m", "X-Mallometer", "test").statusCode())
        .isEqualTo(400);
    // The request is allowed, but the fake cannot search.
    assertThat(send("POST", "/nativememory/owners/7?links=8", "X-Mallometer", "test").statusCode())
        .isEqualTo(501);
  }

  @Test
  void trimmingIsAllowedByAnOptionAndNotFromOtherSites() throws Exception {
    start(OPTIONS);
    assertThat(send("POST", "/nativememory/trim", "X-Mallometer", "test").statusCode())
        .isEqualTo(403);
    assertThat(mallometer.trims()).isZero();
    stop();

    start(options(Map.of("allow-trim", "true")));
    assertThat(send("POST", "/nativememory/trim").statusCode()).isEqualTo(403);
    String[] elsewhere = {"X-Mallometer", "test", "Origin", "http://evil.example"};
    assertThat(send("POST", "/nativememory/trim", elsewhere).statusCode()).isEqualTo(403);
    assertThat(send("POST", "/nativememory/trim", elsewhere).body())
        .contains("it comes from http://evil");
    assertThat(mallometer.trims()).isZero();
    String ours = server.orElseThrow().address();
    HttpResponse<String> trim =
        send("POST", "/nativememory/trim", "X-Mallometer", "test", "Origin", ours);
    assertThat(trim.statusCode()).isEqualTo(200);
    assertThat(trim.body()).startsWith("{\"outcome\":");
    assertThat(mallometer.trims()).isEqualTo(1);
    assertThat(send("POST", "/nativememory/trim", "X-Mallometer", "test").statusCode())
        .isEqualTo(429);
  }

  @Test
  void acknowledgingIsAllowedByTheOptionThatShowsItsButton() throws Exception {
    start(OPTIONS);
    assertThat(send("POST", "/nativememory/leaks/a.B.c", "X-Mallometer", "test").body())
        .contains("acknowledging is not allowed: start the agent with the option allow-trim=true");
    stop();

    start(options(Map.of("allow-trim", "true")));
    assertThat(send("POST", "/nativememory/leaks/a.B.c").statusCode()).isEqualTo(403);
    assertThat(send("POST", "/nativememory/leaks/a.B.c", "X-Mallometer", "test").body())
        .contains("no call site is named 'a.B.c'");
    assertThat(send("DELETE", "/nativememory/leaks/a.B.c", "X-Mallometer", "test").statusCode())
        .isEqualTo(200);
  }

  @Test
  void nothingIsAnsweredWithoutTheLoginThatIsWanted() throws Exception {
    start(
        options(
            Map.of(
                "http-server.authentication.basic.username", "Prometheus",
                "http-server.authentication.basic.password", "secret")));

    for (String path :
        List.of("/metrics", "/nativememory/page", "/nativememory/breakdown", "/-/healthy")) {
      assertThat(get(path).statusCode()).as(path).isEqualTo(401);
      assertThat(get(path, "Authorization", basic("Prometheus:wrong")).statusCode()).isEqualTo(401);
      assertThat(get(path, "Authorization", basic("Prometheus:secret")).statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  @Tag("process")
  void tlsShowsTheCertificateOfThatAlias() throws Exception {
    Path store = directory.resolve("store.p12");
    Certificates.keytool(store, "other");
    Certificates.keytool(store, "ours");
    start(
        options(
            Map.of(
                "http-server.ssl.key-store.filename", store.toString(),
                "http-server.ssl.key-store.password", "changeit",
                "http-server.ssl.certificate.alias", "ours")));
    assertThat(server.orElseThrow().address()).startsWith("https://127.0.0.1:");
    client = HttpClient.newBuilder().sslContext(Certificates.trusting(store, "ours")).build();

    HttpResponse<String> answer = get("/metrics");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.sslSession().orElseThrow().getPeerPrincipal().getName()).isEqualTo("CN=ours");
  }

  @Test
  void aKeyStoreThatCannotBeReadIsNamed() {
    ServerOptions options =
        options(
            Map.of(
                "http-server.ssl.key-store.filename",
                directory.resolve("none").toString(),
                "http-server.ssl.key-store.password",
                "changeit"));

    assertThatIOException()
        .isThrownBy(() -> start(options))
        .withMessageContaining(directory.resolve("none").toString());
  }

  private void start(ServerOptions options) throws IOException {
    mallometer.setMemory(FaceContract.memory(1_073_741_824));
    mallometer.setAllocator(FaceContract.allocator(7_000));
    mallometer.setSites(SitesByHand.three());
    mallometer.poll();
    server = Optional.of(AgentServer.start(mallometer, options));
  }

  private static ServerOptions options(Map<String, String> options) {
    return Given.server(options);
  }

  private HttpResponse<String> get(String path, String... headers) throws Exception {
    return client.send(request(path, headers).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> send(String method, String path, String... headers)
      throws Exception {
    return client.send(
        request(path, headers).method(method, HttpRequest.BodyPublishers.noBody()).build(),
        BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path, String... headers) {
    URI uri =
        URI.create(server.orElseThrow().address() + path.replace("[", "%5B").replace("]", "%5D"));
    HttpRequest.Builder builder = HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(1));
    for (int i = 0; i < headers.length; i += 2) {
      builder.header(headers[i], headers[i + 1]);
    }
    return builder;
  }

  private static String type(HttpResponse<String> response) {
    return response.headers().firstValue("Content-Type").orElse("");
  }

  private static String json(View view) throws IOException {
    StringWriter written = new StringWriter();
    view.write(written);
    return written.toString();
  }

  private static String basic(String both) {
    return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
  }
}
