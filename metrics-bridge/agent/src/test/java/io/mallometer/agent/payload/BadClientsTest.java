package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Certificates;
import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.SitesByHand;
import io.mallometer.agent.payload.http.ClientLimits;
import io.mallometer.model.CallSite;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that health and metrics are served despite bad clients, and that the server does not reset
 * a connection that it should answer.
 */
@Timeout(120)
@Tag("any-jdk")
class BadClientsTest {

  private static final int OF_EACH_KIND = 100;

  private static final int SCRAPES = 10;

  /**
   * The longest accepted time for a scrape. The server closes a bad client after twice this time.
   */
  private static final Duration SOON = ClientLimits.usual().patience().dividedBy(2);

  private final FakeMallometer mallometer =
      new FakeMallometer(FaceContract.counters(true, 32_768), FaceContract.selfReport());

  @TempDir private Path directory;

  private Optional<AgentServer> server = Optional.empty();

  @AfterEach
  void stop() {
    server.ifPresent(AgentServer::close);
    mallometer.close();
  }

  @Test
  void aScrapeIsNotLateAmongFiveHundredBadClients() throws Exception {
    start(Map.of());

    scrapeAmong(OF_EACH_KIND, BadClients.plain(), SSLContext.getDefault());
  }

  @Test
  @Tag("process")
  void aScrapeByTlsIsNotLateAmongFiveHundredHandshakesThatNeverEnd() throws Exception {
    Path store = directory.resolve("store.p12");
    Certificates.keytool(store, "ours");
    start(
        Map.of(
            "http-server.ssl.key-store.filename",
            store.toString(),
            "http-server.ssl.key-store.password",
            "changeit"));

    scrapeAmong(OF_EACH_KIND, BadClients.secure(), Certificates.trusting(store, "ours"));
  }

  @Test
  void fourWhoDoNotReadATableHoldUpNoScrape() throws Exception {
    start(Map.of());

    scrapeAmong(4, BadClients.plain().subList(0, 1), SSLContext.getDefault());
  }

  @Test
  void aClientTooManyIsToldWhenToTryAgain() throws Exception {
    start(Map.of(), 1_000);
    HttpClient client = HttpClient.newHttpClient();
    List<CompletableFuture<HttpResponse<Void>>> answers = new ArrayList<>();

    for (int i = 0; i < 2 * OF_EACH_KIND; i++) {
      answers.add(client.sendAsync(request("/nativememory/table"), BodyHandlers.discarding()));
    }

    for (CompletableFuture<HttpResponse<Void>> answer : answers) {
      assertThat(answer.get().statusCode()).isIn(200, 503);
      if (answer.get().statusCode() == 503) {
        assertThat(answer.get().headers().firstValue("Retry-After")).contains("1");
      }
    }
    assertThat(answers).anyMatch(answer -> answer.join().statusCode() == 200);
    assertThat(answers).anyMatch(answer -> answer.join().statusCode() == 503);
  }

  private void scrapeAmong(int ofEachKind, List<byte[]> kinds, SSLContext tls) throws Exception {
    scrape(tls);
    try (BadClients bad = new BadClients(port()).come(ofEachKind, kinds)) {
      for (int i = 0; i < SCRAPES; i++) {
        assertThat(scrape(tls)).isLessThan(SOON);
        bad.comeAgain();
      }
    }
  }

  private Duration scrape(SSLContext tls) throws Exception {
    HttpClient client = HttpClient.newBuilder().sslContext(tls).build();
    long began = System.nanoTime();
    assertThat(client.send(request("/metrics"), BodyHandlers.ofString()).body())
        .contains("native_malloc_live_bytes");
    assertThat(client.send(request("/-/healthy"), BodyHandlers.ofString()).statusCode())
        .isEqualTo(HttpURLConnection.HTTP_OK);
    return Duration.ofNanos(System.nanoTime() - began);
  }

  private HttpRequest request(String path) {
    return HttpRequest.newBuilder(URI.create(server.orElseThrow().address() + path))
        .timeout(Duration.ofMinutes(1))
        .build();
  }

  private int port() {
    return URI.create(server.orElseThrow().address()).getPort();
  }

  /** Starts a server whose table is larger than the kernel's buffers for a connection. */
  private void start(Map<String, String> options) throws IOException {
    start(options, 8_000);
  }

  private void start(Map<String, String> options, int sites) throws IOException {
    mallometer.setMemory(FaceContract.memory(1_073_741_824));
    mallometer.setAllocator(FaceContract.allocator(7_000));
    mallometer.setSites(
        SitesByHand.reading(
            IntStream.range(0, sites).mapToObj(BadClientsTest::site).toArray(CallSite[]::new)));
    mallometer.poll();
    server = Optional.of(AgentServer.start(mallometer, Given.server(options)));
  }

  private static CallSite site(int number) {
    String name = "org.other." + "Thing".repeat(100) + ".m" + number;
    return SitesByHand.site(number, name, "libm.so", number);
  }
}
