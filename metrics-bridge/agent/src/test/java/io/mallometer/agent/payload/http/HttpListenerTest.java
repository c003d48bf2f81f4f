package io.mallometer.agent.payload.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.Certificates;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
@Tag("any-jdk")
class HttpListenerTest {

  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final int ANY_SPEED = 1;
  private static final int FAST = 1024 * 1024;
  private static final int SOME = 100;
  private static final int LARGE = 12_000_000;

  private static final ClientLimits PATIENT = new ClientLimits(LONG, LONG, ANY_SPEED, SOME);
  private static final String NOW = "GET /now HTTP/1.1\r\n\r\n";
  private static final String LARGEST = "GET /large HTTP/1.1\r\n\r\n";

  private final WorkerPool lane = new WorkerPool("test", 1, 1);
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final CompletableFuture<IOException> failure = new CompletableFuture<>();

  @TempDir private static Path directory;

  private Optional<HttpListener> listener = Optional.empty();

  @AfterEach
  void stop() {
    goOn.countDown();
    listener.ifPresent(HttpListener::close);
    lane.close();
  }

  @Test
  void requestsOfOneConnectionAreAnsweredInTheirOrder() throws Exception {
    start(PATIENT);

    try (Socket client =
        asking(NOW + "GET /small HTTP/1.1\r\n\r\n" + "\r\n" + NOW.replace("1.1", "1.0"))) {
      assertThat(all(client))
          .containsSubsequence("200 ", "\r\nnow", "chunked", "\r\n5\r\nsmall\r\n0\r\n\r\n")
          .endsWith("Connection: close\r\n\r\nnow");
    }
  }

  @Test
  void aRequestMayComeByteByByte() throws Exception {
    start(PATIENT);

    try (Socket client = connected()) {
      for (char c :
          ("\r\n" + NOW.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")).toCharArray()) {
        say(client, "" + c);
      }

      assertThat(all(client)).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\nnow");
    }
  }

  @Test
  void ofAHeadOnlyTheHeadIsAnswered() throws Exception {
    start(PATIENT);

    assertThat(answer("HEAD /now HTTP/1.0\r\n\r\n")).contains("Length: 3").endsWith("\r\n\r\n");
    assertThat(answer("HEAD /small HTTP/1.0\r\n\r\n")).contains("200 ").endsWith("\r\n\r\n");
    assertThat(answer("GET /small HTTP/1.0\r\n\r\n")).contains("200 ").endsWith("\r\n\r\nsmall");
  }

  /**
   * The server does not read the body and closes the connection, but the client gets the answer.
   */
  @Test
  void aRequestWithABodyIsAnswered() throws Exception {
    start(PATIENT);

    assertThat(answer("POST /now HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + "x".repeat(100_000)))
        .contains("200 ", "Connection: close")
        .endsWith("now");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET /now | 400 | only HTTP/1.0 and HTTP/1.1 are understood",
        "PRI * HTTP/2.0 | 400 | only HTTP/1.0 and HTTP/1.1 are understood",
        "GET now HTTP/1.1 | 400 | 'now' is not a path",
        "GET /%zz HTTP/1.1 | 400 | '/%zz' is not correctly URL-encoded",
        "GET /now HTTP/1.1~no header | 400 | line 2 is not a header",
        "GET http://localhost/now?a=b HTTP/1.1~Connection: x, close | 200 | now",
      })
  void whatIsNotUnderstoodIsRefusedWithTheReason(String head, int status, String text)
      throws Exception {
    start(PATIENT);

    assertThat(answer(head.replace("~", "\r\n") + "\r\n\r\n"))
        .startsWith("HTTP/1.1 " + status + " ")
        .contains(text);
  }

  @Test
  void aHeadWithoutEndIsRefused() throws Exception {
    start(PATIENT);

    assertThat(answer("GET /now HTTP/1.1\r\nX: " + "x".repeat(20_000)))
        .startsWith("HTTP/1.1 431 ")
        .contains("the headers of the request have more than 16384 bytes");
    assertThat(answer("GET /now HTTP/1.1\r\n" + "X: x\r\n".repeat(200) + "\r\n"))
        .startsWith("HTTP/1.1 400 ")
        .contains("there are more than 100 headers");
  }

  /** The time limit for a request also holds if a byte arrives now and then. */
  @Test
  void aRequestThatDoesNotEndIsGivenUp() throws Exception {
    start(new ClientLimits(SHORT, LONG, ANY_SPEED, SOME));

    try (Socket client = connected()) {
      assertThat(whileSaying(client, "GET /now?", "x")).isBetween(SHORT, SHORT.multipliedBy(10));
    }
  }

  @Test
  void aConnectionOnWhichNothingComesIsClosed() throws Exception {
    start(new ClientLimits(LONG, SHORT, ANY_SPEED, SOME));

    try (Socket client = asking(NOW)) {
      assertThat(all(client)).endsWith("now");
    }
  }

  @Test
  void whoDoesNotTakeAnAnswerIsGivenUpAndTheThreadIsFree() throws Exception {
    start(new ClientLimits(SHORT, LONG, FAST, SOME));

    try (Socket slow = asking(LARGEST)) {
      assertThat(slow.getInputStream().readNBytes(12)).isEqualTo(text("HTTP/1.1 200"));
      assertThat(failure.get()).hasMessage("the connection is closed");
      assertThat(answer("GET /small HTTP/1.0\r\n\r\n")).endsWith("small");
    }
  }

  @Test
  void whoTakesAnAnswerTooSlowlyIsGivenUp() throws Exception {
    start(new ClientLimits(SHORT, LONG, FAST, SOME));

    try (Socket slow = asking(LARGEST)) {
      while (!failure.isDone()) {
        slow.getInputStream().readNBytes(1_000);
        Thread.sleep(20);
      }

      assertThat(failure.get()).hasMessage("the connection is closed");
    }
  }

  @Test
  void whoTakesAnAnswerSteadilyGetsItAll() throws Exception {
    start(new ClientLimits(SHORT.multipliedBy(2), LONG, FAST / 4, SOME));

    try (Socket steady = asking(LARGEST.replace("1.1", "1.0"))) {
      InputStream in = steady.getInputStream();
      long length = 0;
      // The transfer takes longer than the server's patience, but at a sufficient rate.
      for (int read = in.readNBytes(1 << 20).length;
          read > 0;
          read = in.readNBytes(1 << 20).length) {
        length += read;
        Thread.sleep(250);
      }

      assertThat(length).isGreaterThan(LARGE);
    }
  }

  @Test
  void aClientThatWaitsTooLongForAThreadIsToldToTryAgain() throws Exception {
    start(new ClientLimits(SHORT, LONG, ANY_SPEED, SOME));

    try (Socket first = asking("GET /later HTTP/1.0\r\n\r\n")) {
      begun.await();
      assertThat(answer("GET /small HTTP/1.0\r\n\r\n"))
          .startsWith("HTTP/1.1 503 ")
          .contains("Retry-After: 1\r\n");
      goOn.countDown();
      assertThat(all(first)).endsWith("later");
    }
  }

  @Test
  void aClientTooManyForALaneIsToldAtOnceToTryAgain() throws Exception {
    start(PATIENT);

    try (Socket first = asking("GET /later HTTP/1.0\r\n\r\n")) {
      begun.await();
      // The worker pool has room for one of the two requests, and refuses the other. Either of them
      // may come first.
      try (Socket second = asking("GET /small HTTP/1.0\r\n\r\n");
          Socket third = asking("GET /small HTTP/1.0\r\n\r\n")) {
        List<CompletableFuture<String>> answers =
            Stream.of(second, third).map(HttpListenerTest::reading).toList();
        Object soonest = CompletableFuture.anyOf(answers.get(0), answers.get(1)).join();
        assertThat(soonest.toString()).startsWith("HTTP/1.1 503 ").contains("Retry-After: 1\r\n");
        goOn.countDown();
        assertThat(all(first)).endsWith("later");
        assertThat(answers.stream().map(CompletableFuture::join))
            .filteredOn(answer -> answer.endsWith("small"))
            .hasSize(1);
      }
    }
  }

  /**
   * The server closes the connection that has kept it waiting longest, but none that it is
   * answering.
   */
  @Test
  void oneConnectionTooManyEndsAnother() throws Exception {
    start(new ClientLimits(LONG, LONG, ANY_SPEED, 3));

    try (Socket answered = connected();
        Socket silent = connected();
        Socket newer = connected()) {
      say(answered, "GET /later HTTP/1.0\r\n\r\n");
      begun.await();
      assertThat(answer("GET /now HTTP/1.0\r\n\r\n")).endsWith("now");
      assertThat(all(silent)).isEmpty();
      goOn.countDown();
      assertThat(all(answered)).endsWith("later");
      say(newer, "GET /now HTTP/1.0\r\n\r\n");
      assertThat(all(newer)).endsWith("now");
    }
  }

  @Test
  void newClientsWaitWhileAllConnectionsAreBeingAnswered() throws Exception {
    start(new ClientLimits(LONG, LONG, ANY_SPEED, 1));

    try (Socket first = asking("GET /later HTTP/1.0\r\n\r\n")) {
      begun.await();
      try (Socket second = asking("GET /later HTTP/1.0\r\n\r\n");
          Socket third = asking("GET /now HTTP/1.0\r\n\r\n")) {
        Thread.sleep(SHORT.toMillis());
        goOn.countDown();

        assertThat(all(first)).endsWith("later");
        assertThat(all(second)).endsWith("later");
        assertThat(all(third)).endsWith("now");
      }
    }
  }

  @Test
  @Tag("process")
  void aLargeAnswerComesWholeByTls() throws Exception {
    SSLContext trusting = startTls(PATIENT);

    try (Socket client = trusting.getSocketFactory().createSocket(loopback(), port())) {
      say(client, LARGEST.replace("1.1", "1.0"));
      byte[] whole = client.getInputStream().readAllBytes();

      assertThat(whole).hasSizeGreaterThan(LARGE);
      assertThat(Arrays.copyOfRange(whole, whole.length - LARGE, whole.length)).isEqualTo(large());
    }
  }

  @Test
  @Tag("process")
  void manyRequestsGoThroughOneConnectionByTls() throws Exception {
    SSLContext trusting = startTls(PATIENT);

    try (Socket client = trusting.getSocketFactory().createSocket(loopback(), port())) {
      say(client, NOW.repeat(SOME));
      say(client, NOW.replace("1.1", "1.0"));

      assertThat(all(client).split("HTTP/1.1 200 ")).hasSize(SOME + 2);
    }
  }

  @Test
  @Tag("process")
  void aHandshakeThatDoesNotEndIsGivenUp() throws Exception {
    startTls(new ClientLimits(SHORT, LONG, ANY_SPEED, SOME));

    try (Socket nothing = connected();
        Socket nonsense = asking(NOW)) {
      assertThat(all(nothing)).isEmpty();
      assertThat(all(nonsense)).isEmpty();
    }
  }

  private void answer(Exchange exchange) {
    switch (exchange.request().path()) {
      case "/now" -> exchange.plain(200, "now");
      case "/small" -> exchange.in(lane, () -> write(exchange, text("small")));
      case "/large" -> exchange.in(lane, () -> write(exchange, large()));
      case "/later" -> exchange.in(lane, () -> later(exchange));
      default -> exchange.plain(404, "nothing");
    }
  }

  private void later(Exchange exchange) throws IOException {
    begun.countDown();
    try {
      goOn.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    write(exchange, text("later"));
  }

  private void write(Exchange exchange, byte[] body) throws IOException {
    try (OutputStream out = exchange.begin(200)) {
      out.write(body);
    } catch (IOException e) {
      failure.complete(e);
      throw e;
    }
  }

  private static byte[] large() {
    byte[] large = new byte[LARGE];
    for (int i = 0; i < large.length; i++) {
      large[i] = (byte) (i / 251);
    }
    return large;
  }

  private void start(ClientLimits limits) throws IOException {
    start(limits, Optional.empty());
  }

  private void start(ClientLimits limits, Optional<SSLContext> tls) throws IOException {
    HttpListener started =
        new HttpListener(new InetSocketAddress(loopback(), 0), tls, limits, this::answer);
    started.start();
    listener = Optional.of(started);
  }

  private SSLContext startTls(ClientLimits limits) throws Exception {
    Path store = directory.resolve("store.p12");
    if (!Files.exists(store)) {
      Certificates.keytool(store, "ours");
    }
    start(limits, Optional.of(Certificates.serving(store)));
    return Certificates.trusting(store, "ours");
  }

  private static InetAddress loopback() {
    return InetAddress.getLoopbackAddress();
  }

  private int port() {
    return listener.orElseThrow().port();
  }

  private Socket connected() throws IOException {
    Socket client = new Socket();
    client.setReceiveBufferSize(4_096);
    client.setTcpNoDelay(true);
    client.setSoTimeout((int) TimeUnit.MINUTES.toMillis(1));
    client.connect(new InetSocketAddress(loopback(), port()));
    return client;
  }

  private Socket asking(String request) throws IOException {
    Socket client = connected();
    say(client, request);
    return client;
  }

  private String answer(String request) throws IOException {
    try (Socket client = asking(request)) {
      return all(client);
    }
  }

  private static void say(Socket client, String words) throws IOException {
    client.getOutputStream().write(text(words));
  }

  private static String all(Socket client) throws IOException {
    return new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
  }

  private static CompletableFuture<String> reading(Socket client) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return all(client);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        read -> new Thread(read).start());
  }

  private static Duration whileSaying(Socket client, String first, String then) throws Exception {
    long began = System.nanoTime();
    say(client, first);
    try {
      while (true) {
        say(client, then);
        Thread.sleep(20);
      }
    } catch (IOException e) {
      return Duration.ofNanos(System.nanoTime() - began);
    }
  }

  private static byte[] text(String words) {
    return words.getBytes(StandardCharsets.ISO_8859_1);
  }
}
