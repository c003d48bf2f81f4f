package io.mallometer.push;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.Certificates;
import io.mallometer.FakeMallometer;
import io.mallometer.Logged;
import io.mallometer.SitesByHand;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.push.ProfileStore.Pushed;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class ProfilePushTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final FakeMallometer mallometer = new FakeMallometer();
  private final AtomicInteger status = new AtomicInteger(200);
  private Duration interval = Duration.ofMillis(20);
  private final List<AutoCloseable> open = new ArrayList<>();
  private final Logged logged = new Logged("io.mallometer.Mallometer");
  private int second;

  @TempDir private Path directory;

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    mallometer.close();
    logged.close();
  }

  @Test
  void whatWasAllocatedSinceTheLastOneIsSentAndWhatIsLive() throws Exception {
    ProfileStore store = store(0);
    ProfilePush push = push(store.url(), Map.of("labels", "region=eu,service_name=shop"));

    Pushed pushed = next(store);
    assertThat(pushed.path()).isEqualTo("/push.v1.PusherService/Push");
    assertThat(pushed.headers().getFirst("Content-Type")).isEqualTo("application/proto");
    assertThat(pushed.labels())
        .containsEntry("__name__", "memory")
        .containsEntry("__delta__", "false")
        .containsEntry("service_name", "shop")
        .containsEntry("region", "eu");
    assertThat(pushed.text())
        .contains("alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "a.B.growing")
        .contains("Allocated since 2026-01-01T");
    next(store);
    until(() -> push.sent() >= 2);
    assertThat(push.dropped()).isZero();
  }

  @Test
  void credentialsAndTenantAreSent() throws Exception {
    ProfileStore store = store(0);
    Path token = Files.writeString(directory.resolve("token"), "first\n");
    push(
        URI.create(store.url() + "/prefix/"),
        Map.of("token-file", token.toString(), "tenant", "blue"));

    Pushed pushed = next(store);
    assertThat(pushed.path()).isEqualTo("/prefix/push.v1.PusherService/Push");
    assertThat(pushed.headers().getFirst("Authorization")).isEqualTo("Bearer first");
    assertThat(pushed.headers().getFirst("X-Scope-OrgID")).isEqualTo("blue");
    Files.writeString(token, "second");
    until(() -> next(store).headers().getFirst("Authorization").equals("Bearer second"));

    push(store.url(), Map.of("username", "me", "password", "secret"));
    until(() -> next(store).headers().getFirst("Authorization").equals("Basic bWU6c2VjcmV0"));
  }

  @Test
  @Tag("process")
  void aStoreIsTrustedByItsCertificateAndNoOther() throws Exception {
    Path keys = directory.resolve("keys.p12");
    Certificates.keytool(keys, "localhost");
    Path others = directory.resolve("others.p12");
    Certificates.keytool(others, "other");
    ProfileStore store = new ProfileStore(Certificates.serving(keys), 0, status::get);
    open.add(store);

    ProfilePush wary =
        push(store.url(), Map.of("certificates", Certificates.pem(others, "other").toString()));
    until(() -> !logged.messages().isEmpty());
    assertThat(logged.messages().get(0)).contains("cannot be pushed to https://localhost:");
    assertThat(wary.sent()).isZero();

    push(store.url(), Map.of("certificates", Certificates.pem(keys, "localhost").toString()));
    assertThat(next(store).labels()).containsEntry("__name__", "memory");
  }

  @Test
  void whatTheStoreDoesNotTakeForNowIsSentAgain() throws Exception {
    status.set(503);
    // ProfilePush drops profiles when more than ten wait. With this interval, fewer wait before the
    // store accepts them, so none is dropped.
    interval = Duration.ofMillis(400);
    ProfileStore store = store(0);
    ProfilePush push = push(store.url(), Map.of());
    Pushed first = next(store);
    assertThat(next(store).profile()).isEqualTo(first.profile());
    assertThat(push.sent()).isZero();

    status.set(200);
    until(() -> push.sent() >= 2);
    assertThat(push.dropped()).isZero();
    assertThat(logged.messages())
        .singleElement()
        .asString()
        .contains("status 503", "mallometer sends it again");
  }

  @Test
  void whatTheStoreRefusesIsDropped() throws Exception {
    status.set(401);
    ProfileStore store = store(0);
    ProfilePush push = push(store.url(), Map.of());
    until(() -> push.dropped() >= 2);

    assertThat(push.sent()).isZero();
    assertThat(logged.messages()).singleElement().asString().contains("refused a profile", "401");
  }

  @Test
  void whileThereIsNoStoreOnlyTheLatestProfilesWait() throws Exception {
    ProfileStore gone = store(0);
    int port = gone.port();
    gone.close();
    ProfilePush push = push(gone.url(), Map.of());
    until(() -> push.dropped() >= 3);

    ProfileStore back = store(port);
    until(() -> push.sent() >= 10);
    assertThat(back.waiting()).isGreaterThanOrEqualTo(10);
  }

  @Test
  void aTokenOfTwoLinesIsNotLogged() throws Exception {
    ProfileStore store = store(0);
    Path token = Files.writeString(directory.resolve("token"), "hunter\nhunter2\n");
    ProfilePush push = push(store.url(), Map.of("token-file", token.toString()));
    until(() -> push.dropped() >= 2);

    assertThat(logged.messages())
        .singleElement()
        .asString()
        .contains("push.token-file must be one line")
        .doesNotContain("hunter");
    assertThat(logged.causes()).isEmpty();
    Files.writeString(token, "right");
    until(() -> push.sent() >= 1);
    assertThat(store.next().headers().getFirst("Authorization")).isEqualTo("Bearer right");
  }

  @Test
  void aTenantOfTwoLinesIsNotLogged() throws Exception {
    ProfilePush push = push(store(0).url(), Map.of("tenant", "hunter\nhunter2"));
    until(() -> push.dropped() >= 2);

    assertThat(logged.messages())
        .singleElement()
        .asString()
        .contains("push.tenant must be one line")
        .doesNotContain("hunter");
  }

  @Test
  void whatFailsForNoKnownReasonIsTriedAfterAPauseAndNotQuoted() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    Path broken =
        (Path)
            Proxy.newProxyInstance(
                Path.class.getClassLoader(),
                new Class<?>[] {Path.class},
                (self, method, arguments) -> {
                  attempts.incrementAndGet();
                  throw new IllegalStateException("hunter2");
                });
    PushOptions known = options(store(0).url(), Map.of());
    grow();
    long begin = System.nanoTime();
    ProfilePush push =
        ProfilePush.start(
            mallometer,
            new PushOptions(
                known.url(),
                known.interval(),
                known.labels(),
                known.login(),
                Optional.of(broken),
                known.tenant(),
                known.certificates(),
                known.sslContext()));
    open.add(0, push);
    until(() -> push.dropped() >= 3);

    long tried = attempts.get();
    assertThat(tried).isBetween(1L, 2 + (System.nanoTime() - begin) / 1_000_000_000);
    assertThat(logged.messages())
        .singleElement()
        .asString()
        .contains("IllegalStateException")
        .doesNotContain("hunter2");
    assertThat(logged.causes()).isEmpty();
  }

  @Test
  void anAddressWithAPasswordIsRefusedAndNotQuoted() {
    for (String url :
        List.of("https://me:hunter2@localhost", "me:hunter2@localhost", "http://me:hunt/2@host")) {
      assertThatThrownBy(() -> read(Map.of("url", url)))
          .hasMessageContaining("must be an address without a user and a password")
          .hasMessageNotContaining("hunt");
    }
  }

  /** The JDK would by default keep the connection open for the next request. */
  @Test
  void noConnectionStaysOpenAfterAPush() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      server.setSoTimeout(60_000);
      ProfilePush push = push(URI.create("http://localhost:" + server.getLocalPort()), Map.of());
      Thread growing = growing();
      try (Socket client = server.accept()) {
        client.setSoTimeout(60_000);
        assertThat(client.getInputStream().read()).isPositive();
        push.pause(); // closes the connection while the push waits for the answer
        assertThat(readToTheEnd(client)).isTrue();
      }
      push.resume();
      try (Socket client = server.accept()) {
        client.setSoTimeout(60_000);
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
          head.append((char) client.getInputStream().read());
        }
        assertThat(head).contains("Connection: close");
        client
            .getOutputStream()
            .write(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                    .getBytes(US_ASCII));
        assertThat(readToTheEnd(client)).isTrue();
      }
      until(() -> push.sent() >= 1);
      growing.interrupt();
      growing.join();
      assertThat(logged.messages()).isEmpty();
    }
  }

  /**
   * Reads to the end of the stream. Fails at the socket's timeout if the other side keeps the
   * connection open.
   */
  private static boolean readToTheEnd(Socket client) throws IOException {
    byte[] buffer = new byte[8192];
    int length;
    do {
      length = client.getInputStream().read(buffer);
    } while (length >= 0);
    return true;
  }

  private Thread growing() {
    Thread thread =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                grow();
                LockSupport.parkNanos(5_000_000);
              }
            });
    thread.start();
    return thread;
  }

  @Test
  void profilesAreSentAgainAfterAPauseButNotAfterTheEnd() throws Exception {
    ProfileStore store = store(0);
    ProfilePush push = push(store.url(), Map.of());
    next(store);
    push.pause();
    push.pause();
    long sent = push.sent();
    while (store.waiting() > 0) {
      store.next();
    }
    for (int i = 0; i < 20; i++) {
      grow();
      Thread.sleep(5);
    }
    assertThat(push.sent()).isEqualTo(sent);
    assertThat(store.waiting()).isZero();

    push.resume();
    push.resume();
    until(() -> push.sent() > sent);
    push.close();
    push.resume();
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().equals("mallometer-push"));
  }

  @Test
  void withoutCallSitesNothingIsSentAndTheEndIsSoon() throws Exception {
    ProfileStore store = store(0);
    mallometer.setSites(SitesByHand.reading());
    ProfilePush push = ProfilePush.start(mallometer, options(store.url(), Map.of()));
    for (int i = 0; i < 20; i++) {
      mallometer.advance(Duration.ofSeconds(2));
      Thread.sleep(10);
    }
    push.close();
    push.close();
    assertThat(store.waiting()).isZero();
    assertThat(logged.messages()).isEmpty();
  }

  @Test
  void optionsThatMakeNoSenseAreRefusedWithTheReason() {
    refused("push.url is \"pyroscope:4040\" and must be an address", "url", "pyroscope:4040");
    refused("push.labels is \"a=b,c\" and must be a list of name=value", "labels", "a=b,c");
    refused("push.labels is \"a-b=c\" and must have names of letters", "labels", "a-b=c");
    refused("push.username is \"******\" and must be given together", "username", "me");
    refused("push.interval is \"5ms\" and must be at least 1s", "interval", "5ms");
  }

  private static void refused(String reason, String name, String value) {
    Map<String, String> given = new HashMap<>(Map.of("url", "http://localhost"));
    given.put(name, value);
    assertThatThrownBy(() -> read(given)).hasMessageContaining(reason);
  }

  private ProfileStore store(int port) throws IOException {
    ProfileStore store = new ProfileStore(null, port, status::get);
    open.add(store);
    return store;
  }

  private ProfilePush push(URI url, Map<String, String> given) {
    grow();
    ProfilePush push = ProfilePush.start(mallometer, options(url, given));
    open.add(0, push);
    return push;
  }

  private synchronized void grow() {
    second += 2;
    mallometer.advance(Duration.ofSeconds(2));
    mallometer.setSites(
        SitesByHand.reading(
            START.plusSeconds(second),
            List.of(SitesByHand.site(1, "a.B.growing", "liba.so", 1_000 * second))));
  }

  private Pushed next(ProfileStore store) {
    try {
      while (store.waiting() == 0) {
        grow();
        Thread.sleep(5);
      }
      return store.next();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void until(BooleanSupplier condition) throws InterruptedException {
    long begin = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - begin).isLessThan(60_000_000_000L);
      grow();
      Thread.sleep(5);
    }
  }

  private PushOptions options(URI url, Map<String, String> given) {
    PushOptions known = read(merged(given, url));
    return new PushOptions(
        known.url(),
        interval,
        known.labels(),
        known.login(),
        known.tokenFile(),
        known.tenant(),
        known.certificates(),
        known.sslContext());
  }

  /** Reads settings of pushes. The keys of {@code given} lack the prefix {@code push.}. */
  private static PushOptions read(Map<String, String> given) {
    MallometerOptions options = MallometerOptions.defaults();
    for (Setting<?> setting : Setting.all()) {
      String text = given.get(setting.name().replaceFirst("^push\\.", ""));
      if (setting.name().startsWith("push.") && text != null) {
        options = options.withText(setting, setting.name(), text);
      }
    }
    return PushOptions.of(options, "java").orElseThrow();
  }

  private static Map<String, String> merged(Map<String, String> given, URI url) {
    Map<String, String> all = new HashMap<>(given);
    all.put("url", url.toString());
    return all;
  }
}
