package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.mallometer.jfr.NativeMemoryEvents;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.CallSite;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Phase;
import io.mallometer.model.Setting;
import io.mallometer.model.SizeDistribution;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.management.MBeanServer;
import javax.management.Notification;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MonitorsTest {

  private static final long MIB = 1 << 20;

  private final FakeMallometer mallometer =
      new FakeMallometer(live(10 * MIB, 1), FaceContract.selfReport());
  private final BlockingQueue<MonitorEvent> told = new LinkedBlockingQueue<>();
  private final Logged logged = new Logged("io.mallometer.Mallometer");

  @TempDir private Path directory;

  @BeforeEach
  void listen() {
    mallometer.poll();
    mallometer.monitors().onEvent(told::add);
  }

  @AfterEach
  void close() {
    mallometer.close();
    logged.close();
  }

  @Test
  void aRequestAboveTheThresholdIsReportedOnceAndLogged() throws Exception {
    mallometer.setHugeAllocations(List.of(request(1, 900 * MIB)));
    mallometer.poll();
    mallometer.monitors().start(MonitorOptions.threshold(200 * MIB));
    flush();
    mallometer.advance(Duration.ofSeconds(5));

    mallometer.setHugeAllocations(
        List.of(request(1, 900 * MIB), request(2, 100 * MIB), request(3, 300 * MIB)));
    mallometer.poll();
    mallometer.poll();

    MonitorEvent event = next();
    assertThat(event.bytes()).isEqualTo(300 * MIB);
    assertThat(event.sentence()).isEqualTo("thread worker-1 (42) requested 300 MiB");
    flush();
    assertThat(told).isEmpty();
    assertThat(mallometer.monitors().events()).containsExactly(event);
    assertThat(logged.messages())
        .containsExactly("Monitor threshold=209715200: " + event.sentence());
  }

  @Test
  void ofManyRequestsSomeAMinuteAreLogged() throws Exception {
    mallometer.monitors().start(MonitorOptions.threshold(200 * MIB));
    mallometer.setHugeAllocations(
        IntStream.rangeClosed(1, 40).mapToObj(number -> request(number, 300 * MIB)).toList());
    mallometer.poll();
    flush();
    mallometer.advance(Duration.ofSeconds(60));
    mallometer.setHugeAllocations(List.of(request(41, 300 * MIB)));
    mallometer.poll();
    flush();

    assertThat(told).hasSizeGreaterThan(17);
    assertThat(logged.messages()).hasSize(16 + 1 + 1).element(16).asString().contains("not logged");
  }

  @Test
  void aThresholdOfAThreadReceivesNoRequestOfAnotherThread() throws Exception {
    mallometer.monitors().start(MonitorOptions.threshold(200 * MIB).withThread(42));
    mallometer.monitors().start(MonitorOptions.threshold(200 * MIB).withThread(41));
    mallometer.setHugeAllocations(List.of(request(1, 300 * MIB)));
    mallometer.poll();

    assertThat(next().monitor().thread()).isEqualTo(42);
    flush();
    assertThat(told).isEmpty();
  }

  @Test
  void aThresholdThatTheLibraryDoesNotRecordIsLoggedOnce() {
    Mallometer.Subscription started = mallometer.monitors().start(MonitorOptions.threshold(1_000));
    mallometer.poll();
    assertThat(started.reason()).isNotEmpty();

    assertThat(logged.messages())
        .singleElement()
        .asString()
        .contains("requests above 1.0 MiB only", "MALLOMETER_HUGE=1000");
  }

  @Test
  void liveBytesThatAreExceededNameTheCallSites() throws Exception {
    mallometer.setSites(SitesByHand.three());
    mallometer.monitors().start(MonitorOptions.liveSize(20 * MIB));
    liveAre(20 * MIB);
    assertThat(mallometer.sites().at(KeptMoment.LIVE_SIZE).reason()).contains("no monitor");
    liveAre(21 * MIB);
    liveAre(20 * MIB - 1);
    liveAre(22 * MIB);

    MonitorEvent event = next();
    assertThat(event.bytes()).isEqualTo(21 * MIB);
    assertThat(event.sentence()).isEqualTo("21.0 MiB are live, more than 20.0 MiB");
    assertThat(event.details()).hasSize(3).first().asString().contains("com.shop.Cart.zip");
    assertThat(mallometer.sites().at(KeptMoment.LIVE_SIZE).sites())
        .first()
        .extracting(CallSite::name)
        .isEqualTo("com.shop.Cart.zip");

    liveAre(18 * MIB);
    liveAre(25 * MIB);
    assertThat(next().bytes()).isEqualTo(25 * MIB);
    flush();
    assertThat(told).isEmpty();
  }

  @Test
  void eachSecondAtMostOneRowIsWritten() throws Exception {
    Path file = directory.resolve("memory.csv");
    mallometer.monitors().start(MonitorOptions.csvFile(file));
    flush();
    mallometer.poll();
    mallometer.advance(Duration.ofSeconds(5));
    liveAre(30 * MIB);
    flush();

    assertThat(Files.readAllLines(file))
        .containsExactly(
            "time,live_bytes,peak_bytes,allocations,frees,failed,requested_bytes",
            "2026-01-01T00:00:00Z,10485760,52428800,1,0,0,77",
            "2026-01-01T00:00:05Z,31457280,52428800,1,0,0,77");
  }

  @Test
  void aFileThatHasGrownIsMovedAside() throws Exception {
    Path file = directory.resolve("memory.csv");
    Files.write(file, new byte[4 << 20]);
    mallometer.monitors().start(MonitorOptions.csvFile(file));
    flush();

    assertThat(Files.readAllLines(file)).hasSize(2);
    assertThat(directory.resolve("memory.csv.1")).hasSize(4 << 20);
  }

  @Test
  void aFileThatCannotBeWrittenIsLoggedOnce() throws Exception {
    mallometer.monitors().start(MonitorOptions.csvFile(directory));
    mallometer.advance(Duration.ofSeconds(5));
    mallometer.poll();
    flush();

    assertThat(logged.messages()).hasSize(1).first().asString().contains("cannot write a row");
  }

  @Test
  void aListenerThatFailsDoesNotAffectOtherListeners() throws Exception {
    mallometer
        .monitors()
        .onEvent(
            event -> {
              throw new IllegalStateException("broken");
            });
    BlockingQueue<MonitorEvent> later = new LinkedBlockingQueue<>();
    mallometer.monitors().onEvent(later::add);
    mallometer.monitors().start(MonitorOptions.liveSize(20 * MIB));
    liveAre(21 * MIB);

    assertThat(later.poll(60, TimeUnit.SECONDS)).isNotNull();
  }

  @Test
  void afterClosingNothingIsReportedOrWritten() throws Exception {
    Path file = directory.resolve("memory.csv");
    Mallometer.Subscription subscription =
        mallometer.monitors().start(MonitorOptions.liveSize(20 * MIB));
    subscription.close();
    liveAre(21 * MIB);
    mallometer.close();
    mallometer.monitors().start(MonitorOptions.csvFile(file));
    mallometer.poll();
    flush();

    assertThat(told).isEmpty();
    assertThat(mallometer.monitors().events()).isEmpty();
  }

  @Test
  void aPhaseHasWhatWasCountedInIt() {
    assertThat(mallometer.monitors().nextPhase("warm-up")).isEmpty();
    mallometer.setCounters(live(10 * MIB, 8));
    Phase first = mallometer.monitors().nextPhase("load").orElseThrow();
    mallometer.setCounters(live(10 * MIB, 9));
    mallometer.advance(Duration.ofMinutes(1));
    mallometer.monitors().nextPhase("");

    assertThat(first.name()).isEqualTo("warm-up");
    assertThat(first.figures().counts().orElseThrow().calls()).isEqualTo(7);
    assertThat(mallometer.monitors().phases())
        .extracting(Phase::name, phase -> Duration.between(phase.begin(), phase.end()))
        .containsExactly(tuple("warm-up", Duration.ZERO), tuple("load", Duration.ofMinutes(1)));
    assertThat(mallometer.monitors().nextPhase("")).isEmpty();
  }

  @Test
  void jmxIsNotifiedAndEndsPhases() throws Exception {
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName(NativeMemoryMBeans.NAME);
    BlockingQueue<Notification> received = new LinkedBlockingQueue<>();
    try (NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer)) {
      assertThat(beans.registered()).isTrue();
      server.addNotificationListener(
          name, (notification, handback) -> received.add(notification), null, null);
      mallometer.monitors().start(MonitorOptions.liveSize(20 * MIB));
      liveAre(21 * MIB);

      Notification notification = received.poll(60, TimeUnit.SECONDS);
      assertThat(notification).isNotNull();
      assertThat(notification.getType()).isEqualTo("io.mallometer.monitor");
      assertThat(notification.getMessage()).isEqualTo("21.0 MiB are live, more than 20.0 MiB");
      assertThat(((CompositeData) notification.getUserData()).get("bytes")).isEqualTo(21 * MIB);

      assertThat(nextPhase(server, name, "one")).isNull();
      mallometer.setCounters(live(10 * MIB, 5));
      assertThat(nextPhase(server, name, "").get("calls")).isEqualTo(4L);
    }
  }

  private static CompositeData nextPhase(MBeanServer server, ObjectName name, String phase)
      throws Exception {
    return (CompositeData)
        server.invoke(
            name, "nextPhase", new Object[] {phase}, new String[] {String.class.getName()});
  }

  @Test
  void flightRecorderHasTheEvent() throws Exception {
    Path file = directory.resolve("recording.jfr");
    try (NativeMemoryEvents events = NativeMemoryEvents.register(mallometer);
        Recording recording = new Recording()) {
      assertThat(events).isNotNull();
      recording.enable(NativeMemoryEvents.MONITOR);
      recording.start();
      mallometer.monitors().start(MonitorOptions.liveSize(20 * MIB));
      liveAre(21 * MIB);
      next();
      flush();
      recording.stop();
      recording.dump(file);
    }

    assertThat(RecordingFile.readAllEvents(file))
        .filteredOn(event -> event.getEventType().getName().equals(NativeMemoryEvents.MONITOR))
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.getString("monitor")).isEqualTo("live-size=20971520");
              assertThat(event.getLong("bytes")).isEqualTo(21 * MIB);
            });
  }

  @Test
  void settingsAskForMonitors() {
    assertThat(MonitorOptions.of(MallometerOptions.defaults())).isEmpty();
    assertThat(
            MonitorOptions.of(
                MallometerOptions.defaults()
                    .with(Setting.MONITOR_THRESHOLD, 200 * MIB)
                    .with(Setting.MONITOR_LIVE_SIZE, 2048 * MIB)
                    .with(Setting.MONITOR_CSV_FILE, Path.of("/tmp/x"))
                    .with(Setting.MONITOR_USABLE_SIZES, true)))
        .containsExactly(
            MonitorOptions.threshold(200 * MIB),
            MonitorOptions.liveSize(2048 * MIB),
            MonitorOptions.csvFile(Path.of("/tmp/x")),
            MonitorOptions.usableSizes());
    assertThat(MonitorOptions.usableSizes()).hasToString("usable-sizes=true");
    assertThat(MonitorOptions.threshold(9).withThread(42)).hasToString("threshold=9 of thread 42");
    assertThatThrownBy(() -> MonitorOptions.usableSizes().withThread(42))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () -> new MonitorOptions(MonitorOptions.Kind.CSV_FILE, 0, 0, Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void liveAre(long bytes) {
    mallometer.setCounters(live(bytes, 1));
    mallometer.poll();
  }

  private static NativeCounters live(long bytes, long allocations) {
    return new NativeCounters(
        SizeDistribution.of(i -> i == 0 ? allocations : 0),
        0,
        0,
        77,
        bytes,
        0,
        50 * MIB,
        0,
        Double.NaN,
        0,
        1,
        true);
  }

  private static HugeAllocation request(long number, long bytes) {
    return new HugeAllocation(number, Instant.parse("2026-01-01T00:00:00Z"), bytes, 42, "worker-1");
  }

  private MonitorEvent next() throws InterruptedException {
    MonitorEvent event = told.poll(60, TimeUnit.SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  private void flush() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    Executor listeners = mallometer.engine().listenerThread();
    listeners.execute(done::countDown);
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
  }
}
