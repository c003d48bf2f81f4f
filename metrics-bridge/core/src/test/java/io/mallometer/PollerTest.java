package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.internal.engine.Engine;
import io.mallometer.internal.engine.Poller;
import io.mallometer.internal.engine.Sources;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import io.mallometer.model.CallSites;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PollerTest {

  private static final MallometerOptions FAST =
      MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(10));
  private static final MallometerOptions SLOW =
      MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofHours(1));

  private final Set<Thread> before = Thread.getAllStackTraces().keySet();

  private final Readings library = new Readings();
  private final Engine engine = engine(library, MemorySource.none());
  private final Poller poller = engine.poller();

  @AfterEach
  void noThreadIsLeft() throws InterruptedException {
    library.failure = null;
    for (Thread thread : pollerThreads()) {
      thread.join(TimeUnit.MINUTES.toMillis(1));
    }
    assertThat(pollerThreads()).isEmpty();
  }

  @Test
  void anAttachIsSeenAtOnceAndCallSitesAreRecordedFromItOn() {
    ScriptedLibrary fed =
        new ScriptedLibrary(
            FaceContract.attachedCounters(new Baseline(5e6, 0)), FaceContract.attachedReport());
    fed.setStatus(new Status(State.UNAVAILABLE, "the library is not preloaded", ""));
    try (Mallometer mallometer = new FakeMallometer(fed)) {
      assertThat(mallometer.snapshot().process()).isEmpty();

      fed.setStatus(Status.counting(SelfReport.ATTACHED));
      assertThat(mallometer.counting().attach().reason()).isEqualTo("attached");
      assertThat(mallometer.snapshot().process()).isPresent();
      assertThat(fed.methodNamings()).isEqualTo(1);

      fed.setStatus(new Status(State.UNAVAILABLE, "detached", ""));
      mallometer.counting().detach();
      assertThat(mallometer.snapshot().process()).isEmpty();
    }
  }

  /**
   * A warning is logged if an attached library begins to miss calls of malloc later. Calls that it
   * misses from the beginning are stated in the status, and not logged.
   */
  @Test
  void whatAnAttachMissesLaterIsLoggedOnce() {
    Attachment complete = new Attachment(50, 0, 0, 0.001, 0, 65_536);
    Attachment lacking = new Attachment(50, 0, 3, 0.001, 0, 65_536);
    ScriptedLibrary fed = attachedTo(complete);
    try (Mallometer mallometer = new FakeMallometer(fed);
        Logged logged = new Logged(Mallometer.class.getName())) {
      becomes(fed, lacking);
      mallometer.poll();
      assertThat(mallometer.status())
          .hasToString("ACTIVE (attached; incomplete: 3 calls of malloc are not seen)");
      becomes(fed, complete);
      mallometer.poll();
      becomes(fed, lacking);
      mallometer.poll();
      assertThat(logged.messages())
          .containsExactly(
              "Not every native allocation is counted: attached; incomplete: 3 calls of"
                  + " malloc are not seen. A process that is started with the library preloaded"
                  + " counts every call.");
    }
    ScriptedLibrary known = attachedTo(lacking);
    try (Mallometer mallometer = new FakeMallometer(known);
        Logged logged = new Logged(Mallometer.class.getName())) {
      mallometer.poll();
      assertThat(logged.messages()).isEmpty();
    }
  }

  private static ScriptedLibrary attachedTo(Attachment attachment) {
    ScriptedLibrary fed =
        new ScriptedLibrary(
            FaceContract.attachedCounters(new Baseline(5e6, 0)), FaceContract.attachedReport());
    becomes(fed, attachment);
    return fed;
  }

  private static void becomes(ScriptedLibrary fed, Attachment attachment) {
    fed.setStatus(Status.counting(SelfReport.ATTACHED, attachment.gaps()));
    fed.setSelfReport(FaceContract.attachedReport(attachment));
  }

  @Test
  void theVersionOfTheOptionsIsInTheSnapshot() {
    assertThat(versionIn(FAST.with(Setting.VERSION, " 2.3.1\n"))).contains("2.3.1");
    assertThat(versionIn(FAST.with(Setting.VERSION, " "))).isEmpty();
    assertThat(versionIn(FAST)).isEmpty();
  }

  @Test
  void theVersionIsThereBeforeTheFirstPoll() {
    MallometerOptions options = FAST.with(Setting.VERSION, "2.3.1");
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(options))) {
      assertThat(mallometer.snapshot().applicationVersion()).contains("2.3.1");
    }
  }

  private Optional<String> versionIn(MallometerOptions options) {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(options))) {
      return mallometer.poll().applicationVersion();
    }
  }

  @Test
  void noThreadIsLeftWhenTheLastFacadeIsClosed() {
    for (int i = 0; i < 200; i++) {
      new Mallometer(engine, Optional.of(FAST)).close();
      assertThat(pollerThreads()).isEmpty();
    }
  }

  @Test
  void facadesShareOneThreadThatEndsWithTheLastOfThem() throws Exception {
    try (Mallometer first = new Mallometer(engine, Optional.of(FAST))) {
      Mallometer second = new Mallometer(engine, Optional.of(FAST));
      assertThat(pollerThreads()).hasSize(1).allMatch(Thread::isDaemon);
      second.close();
      library.awaitReadings(3);
      assertThat(first.snapshot().status().active()).isTrue();
    }
  }

  @Test
  void aSystemWithoutAnotherThreadKeepsNobodyFromOpening() {
    Engine exhausted =
        new Engine(
            Sources.of(
                library,
                MemorySource.none(),
                Clock.systemUTC(),
                System::nanoTime,
                work ->
                    new Thread(work) {
                      @Override
                      public synchronized void start() {
                        throw new OutOfMemoryError("unable to create native thread");
                      }
                    }));
    try (Mallometer opened = new Mallometer(exhausted, Optional.of(FAST))) {
      assertThat(opened.poll().status().active()).isTrue();
    }
  }

  @Test
  void theOptionsOfTheFacadeThatWasOpenedFirstHoldUntilItIsClosed() throws Exception {
    Mallometer first = new Mallometer(engine, Optional.of(SLOW));
    try (Logged logged = new Logged(Mallometer.class.getName());
        Mallometer second = new Mallometer(engine, Optional.of(FAST));
        Mallometer third = new Mallometer(engine, Optional.empty())) {
      assertThat(logged.messages())
          .singleElement()
          .asString()
          .contains("are ignored, because mallometer is open with different ones: poll-interval.")
          .doesNotContain("[", SLOW.get(Setting.POLL_INTERVAL).toString());
      int read = library.readings.get();
      Thread.sleep(100);
      assertThat(library.readings).hasValue(read);

      first.close();
      library.awaitReadings(3);
      assertThat(third.snapshot()).isSameAs(second.snapshot());
    }
  }

  @Test
  void aFacadeWithoutOptionsLeavesThemToTheNext() throws Exception {
    try (Logged logged = new Logged(Mallometer.class.getName());
        Mallometer without = new Mallometer(engine, Optional.empty());
        Mallometer with = new Mallometer(engine, Optional.of(FAST))) {
      library.awaitReadings(3);
      assertThat(with.clock()).isSameAs(without.clock());
      assertThat(logged.messages()).isEmpty();
    }
  }

  @Test
  void pollingSurvivesWhateverAReadingThrows() throws Exception {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(FAST))) {
      for (Throwable failure :
          List.of(
              new IllegalStateException("refused"),
              new UnsatisfiedLinkError("gone"),
              new OutOfMemoryError("made up"))) {
        library.failure = failure;
        // The first reading may have begun before the failure was set, so it may still be
        // published.
        library.awaitReadings(2);
        Instant stuck = mallometer.snapshot().time();
        library.awaitReadings(2);
        assertThat(mallometer.snapshot().time()).isEqualTo(stuck);

        library.failure = null;
        library.awaitReadings(2);
        assertThat(mallometer.snapshot().time()).isAfter(stuck);
      }
    }
  }

  @Test
  void theThreadReadsCallSitesAndTheSnapshotShowsWhoHoldsTheMemory() throws Exception {
    ScriptedLibrary known = known();
    try (Mallometer mallometer = over(known)) {
      await(mallometer, snapshot -> snapshot.sites().isPresent());
      assertThat(mallometer.snapshot().sites())
          .hasValueSatisfying(sites -> assertThat(sites.libraries()).hasSize(3));
      assertThat(known.callSiteReadings()).isEqualTo(1);
    }
  }

  /**
   * Reading the process's memory and reading the call sites both load classes, which is slow while
   * the application starts. Therefore they are done in different polls.
   */
  @Test
  void theFirstPollReadsWhereMemoryGoesAndTheSecondTheCallSites() throws Exception {
    ScriptedLibrary known = known();
    List<Integer> siteReadingsBefore = new CopyOnWriteArrayList<>();
    MemorySource memory =
        new ScriptedMemory(
            counted -> {
              siteReadingsBefore.add(known.callSiteReadings());
              return ProcessMemory.unknown();
            });
    try (Mallometer mallometer = new Mallometer(engine(known, memory), Optional.of(FAST))) {
      await(mallometer, snapshot -> siteReadingsBefore.size() >= 3);
    }
    assertThat(siteReadingsBefore).startsWith(0, 0, 1);
  }

  @Test
  void theThreadHoldsNoReadingOfCallSitesForWhichNobodyAsks() throws Exception {
    ScriptedLibrary known = known();
    AtomicReference<@Nullable WeakReference<CallSites>> reading = new AtomicReference<>();
    known.onCallSiteReading(
        () -> {
          CallSites fresh = SitesByHand.three();
          reading.set(new WeakReference<>(fresh));
          known.setCallSites(fresh);
        });
    try (Mallometer mallometer = over(known)) {
      await(mallometer, snapshot -> snapshot.sites().isPresent());
      known.onCallSiteReading(() -> {});
      known.setCallSites(SitesByHand.three());
      for (int i = 0; i < 100 && reading.get().get() != null; i++) {
        System.gc();
      }
      assertThat(reading.get().get()).isNull();
      assertThat(mallometer.sites().read().sites()).hasSize(3);
    }
  }

  @Test
  void newMethodsAreNamedWhileTheirClassesLiveAlsoBetweenPollsAndThoughNobodyAsks()
      throws Exception {
    ScriptedLibrary known = known();
    Engine seldom = engine(known, MemorySource.none());
    try (Mallometer mallometer = new Mallometer(seldom, Optional.of(SLOW))) {
      for (int i = 0; i < 1_000 && known.methodNamings() < 3; i++) {
        Thread.sleep(10);
      }
      assertThat(known.methodNamings()).isGreaterThanOrEqualTo(3);
      assertThat(known.callSiteReadings()).isZero();
      assertThat(mallometer.snapshot().sites()).isEmpty();
    }
  }

  @Test
  void countersAreReadAlsoWhereMemoryRunsOutOverTheCallSites() throws Exception {
    ScriptedLibrary exhausted = known();
    exhausted.onCallSiteReading(
        () -> {
          throw new OutOfMemoryError("made up");
        });
    try (Mallometer mallometer = over(exhausted)) {
      Instant opened = mallometer.snapshot().time();
      AtomicInteger after = new AtomicInteger();
      await(
          mallometer,
          snapshot -> exhausted.callSiteReadings() >= 3 && after.incrementAndGet() > 20);
      assertThat(mallometer.snapshot().time()).isAfter(opened);
      assertThat(exhausted.callSiteReadings())
          .as("readings of the call sites: one to show, one to judge, one of the peak")
          .isEqualTo(3);
    }
  }

  @Test
  void aRequestForCallSitesThatCannotBeReadFailsWithTheReason() {
    ScriptedLibrary broken = known();
    broken.onCallSiteReading(
        () -> {
          throw new IllegalStateException("made up");
        });
    try (Mallometer mallometer = new FakeMallometer(broken)) {
      assertThat(mallometer.sites().read().reason()).contains("cannot be read", "made up");
    }
  }

  private static ScriptedLibrary known() {
    ScriptedLibrary known =
        new ScriptedLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
    known.setCallSites(SitesByHand.three());
    return known;
  }

  private static void await(Mallometer mallometer, Predicate<Snapshot> enough) throws Exception {
    CompletableFuture<Snapshot> seen = new CompletableFuture<>();
    Mallometer.Subscription polls =
        mallometer.onPoll(
            snapshot -> {
              if (enough.test(snapshot)) {
                seen.complete(snapshot);
              }
            });
    seen.get(60, TimeUnit.SECONDS);
    polls.close();
  }

  private static Engine engine(NativeLibrary library, MemorySource memory) {
    return new Engine(Sources.of(library, memory, Clock.systemUTC()));
  }

  private static Mallometer over(ScriptedLibrary known) {
    return new Mallometer(engine(known, MemorySource.none()), Optional.of(FAST));
  }

  @Test
  void countersAreReadAlsoWhereMemoryRunsOutOverTheMappings() throws Exception {
    MemorySource exhausted =
        new ScriptedMemory(
            counted -> {
              throw new OutOfMemoryError("made up");
            });
    try (Mallometer mallometer = new Mallometer(engine(library, exhausted), Optional.of(FAST))) {
      Instant first = mallometer.snapshot().time();
      library.awaitReadings(2);
      assertThat(mallometer.snapshot().time()).isAfter(first);
    }
  }

  @Test
  void aFailedPollReturnsTheSnapshotThatStays() {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(SLOW))) {
      Snapshot before = mallometer.snapshot();
      library.failure = new IllegalStateException("refused");

      assertThat(mallometer.poll()).isSameAs(before);
    }
  }

  @Test
  void aListenerThatThrowsDisturbsNobody() {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(SLOW))) {
      AtomicInteger told = new AtomicInteger();
      Mallometer.Subscription broken =
          mallometer.onPoll(
              snapshot -> {
                throw new IllegalStateException("broken listener");
              });
      Mallometer.Subscription sound = mallometer.onPoll(snapshot -> told.incrementAndGet());

      mallometer.poll();
      sound.close();
      mallometer.poll();
      broken.close();

      assertThat(told).hasValue(1);
    }
  }

  @Test
  void aListenerThatKeepsThrowingIsLoggedOnce() {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(SLOW));
        Logged logged = new Logged(Mallometer.class.getName())) {
      for (int i = 0; i < 2; i++) {
        mallometer.onPoll(
            snapshot -> {
              throw new AssertionError("broken listener");
            });
      }
      mallometer.poll();
      mallometer.poll();

      assertThat(logged.messages())
          .hasSize(2)
          .allMatch(message -> message.startsWith("A poll listener threw an exception"));
    }
  }

  @Test
  void closingTheFacadeEndsItsListenersAndTheirsOnly() {
    try (Mallometer staying = new Mallometer(engine, Optional.of(SLOW))) {
      Mallometer closing = new Mallometer(engine, Optional.of(SLOW));
      AtomicInteger told = new AtomicInteger();
      Mallometer.Subscription early = closing.onPoll(snapshot -> told.addAndGet(100));
      staying.onPoll(snapshot -> told.incrementAndGet());
      closing.close();
      Mallometer.Subscription late = closing.onPoll(snapshot -> told.addAndGet(100));

      staying.poll();
      early.close();
      late.close();
      staying.poll();

      assertThat(told).hasValue(2);
    }
  }

  @Test
  void aClosedFacadesRegistryIsNotHeld() throws Exception {
    Mallometer mallometer = new Mallometer(engine, Optional.of(SLOW));
    WeakReference<Object> registry = subscribeWithARegistry(mallometer);
    mallometer.close();
    for (int i = 0; i < 100 && registry.get() != null; i++) {
      System.gc();
    }

    assertThat(registry.get()).isNull();
    assertThat(mallometer.snapshot()).isSameAs(poller.latest());
  }

  private static WeakReference<Object> subscribeWithARegistry(Mallometer mallometer) {
    Object registry = new Object();
    mallometer.onPoll(snapshot -> assertThat(registry).isNotNull());
    return new WeakReference<>(registry);
  }

  @Test
  void interruptingTheThreadDoesNotEndIt() throws Exception {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(FAST))) {
      pollerThreads().forEach(Thread::interrupt);
      library.awaitReadings(3);
      assertThat(mallometer.snapshot().status().active()).isTrue();
    }
  }

  @Test
  void nothingIsReadBetweenSuspendAndResumeHoweverOftenTheyAreCalled() throws Exception {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(FAST))) {
      for (int i = 0; i < 2; i++) {
        library.awaitReadings(2);
        poller.suspend();
        poller.suspend();
        int readings = library.readings.get();
        Thread.sleep(100);
        assertThat(library.readings).hasValue(readings);

        poller.resume();
        poller.resume();
        library.awaitReadings(2);
      }
      assertThat(mallometer.snapshot().status().active()).isTrue();
    }
  }

  @Test
  void whileSuspendedTheLibraryObservesNoUseAndHasNoFilesOpen() throws Exception {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(FAST))) {
      library.awaitReadings(3);
      assertThat(library.observes).isTrue();
      poller.suspend();
      assertThat(library.observes).isFalse();
      assertThat(library.namesCompiledMethods).isFalse();
      poller.resume();
      assertThat(library.namesCompiledMethods).isTrue();
      assertThat(mallometer.status().active()).isTrue();
    }
  }

  @Test
  void filesThatStayOpenAreReported() throws Exception {
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(FAST))) {
      library.keepsFilesOpen = true;
      assertThatThrownBy(poller::suspend)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("files of /proc may be open");
      poller.resume();
      library.awaitReadings(3);
      assertThat(mallometer.status().active()).isTrue();
    }
  }

  @Test
  void aFacadeThatClosesTwiceLeavesOthersTheirThread() throws Exception {
    try (Mallometer staying = new Mallometer(engine, Optional.of(FAST))) {
      Mallometer closing = new Mallometer(engine, Optional.of(FAST));
      closing.close();
      closing.close();
      library.awaitReadings(3);
      assertThat(staying.snapshot().status().active()).isTrue();
    }
  }

  @Test
  void withoutALibraryThereIsNoThread() {
    library.present = false;
    try (Mallometer mallometer = new Mallometer(engine, Optional.of(FAST))) {
      assertThat(pollerThreads()).isEmpty();
      assertThat(mallometer.snapshot()).isNotNull();
    }
  }

  private List<Thread> pollerThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("mallometer-poller"))
        .filter(thread -> !before.contains(thread))
        .toList();
  }

  private static final class Readings extends SilentLibrary {
    final AtomicInteger readings = new AtomicInteger();
    private final Semaphore awaited = new Semaphore(0);
    volatile boolean present = true;
    volatile @Nullable Throwable failure;
    volatile boolean observes;
    volatile boolean namesCompiledMethods = true;
    volatile boolean keepsFilesOpen;

    Readings() {
      super(Status.counting());
    }

    void awaitReadings(int more) throws InterruptedException {
      awaited.drainPermits();
      assertThat(awaited.tryAcquire(more, 60, TimeUnit.SECONDS)).isTrue();
    }

    @Override
    public boolean present() {
      return present;
    }

    @Override
    public Snapshot read(Instant time) {
      readings.incrementAndGet();
      awaited.release();
      if (failure instanceof Error error) {
        throw error;
      }
      if (failure instanceof RuntimeException exception) {
        throw exception;
      }
      return new Snapshot(time, Status.counting(), process(), FaceContract.selfReport());
    }

    @Override
    public Optional<NativeCounters> process() {
      return Optional.of(FaceContract.counters(true, Double.NaN));
    }

    @Override
    public boolean nameCompiledMethods(boolean names) {
      namesCompiledMethods = names || keepsFilesOpen;
      return namesCompiledMethods == names;
    }

    @Override
    public void observeUse(Duration shortestEpoch) {
      observes = true;
    }

    @Override
    public void ignoreUse() {
      observes = false;
    }

    @Override
    public Optional<AllocatorStatistics> allocator(Instant time) {
      return Optional.of(FaceContract.allocator(Double.NaN));
    }
  }
}
