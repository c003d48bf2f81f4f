package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.mallometer.Logged;
import io.mallometer.Mallometer;
import io.mallometer.SilentLibrary;
import io.mallometer.SitesByHand;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.engine.CallSiteReader;
import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.internal.leak.evidence.WatchedAccess;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.model.CallSites;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakWorkload;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Status;
import io.mallometer.model.Verdict;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests when call sites are judged, and how verdicts are published. */
@Tag("any-jdk")
class LeakWatchTest {

  private static final long SECOND = 1_000_000_000L;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /**
   * The site is a leak after about 36 minutes: when its oldest objects have been idle for 35
   * minutes, three evaluations agree.
   */
  private static final Duration UNTIL_A_LEAK = Duration.ofMinutes(45);

  private final Library library = new Library();
  private final Clock clock =
      ((InstantSource) () -> START.plusNanos(library.now)).withZone(ZoneOffset.UTC);
  private final CallSiteReader callSites = new CallSiteReader(library, clock, () -> library.now);
  private final LeakWatch watch = newWatch();

  private LeakWatch newWatch() {
    return new LeakWatch(
        library, callSites, clock, () -> library.now, () -> new GarbageCollections(0, 0, 0));
  }

  /** Simulates a library that observes a leak of one site: 64 KiB every 20 s. */
  private static final class Library extends SilentLibrary {
    long now;
    int readings;
    int siteReadings;
    long siteReadingNanos;
    long voidEpochs;
    int voidForEachReading;
    long costNanos;
    Duration shortestEpoch = Duration.ZERO;
    boolean observes;
    List<Integer> watched = List.of();
    String refusal = "";
    String watchReason = "";
    List<WatchedAccess> seen = List.of();
    SiteUse use = SiteUse.NONE;

    Library() {
      super(Status.counting());
    }

    @Override
    public CallSites callSites(Instant time, List<String> applicationPackages, boolean whole) {
      siteReadings++;
      now += siteReadingNanos;
      return SitesByHand.reading(
          time, List.of(SitesByHand.site(1, "com.shop.Cart.zip", "libzip.so", 64e3)));
    }

    @Override
    public void observeUse(Duration epoch) {
      shortestEpoch = epoch;
      observes = true;
    }

    @Override
    public void ignoreUse() {
      observes = false;
    }

    @Override
    public Evidence evidence() {
      readings++;
      voidEpochs += voidForEachReading;
      List<SampledObject> objects = new ArrayList<>();
      for (long born = SECOND; born < now; born += 20 * SECOND) {
        objects.add(new SampledObject(1, 64 << 10, 1, 1, born, born));
      }
      now += costNanos;
      Observation some = VerdictsByHand.observation();
      return new Evidence(
          now,
          new Observation(
              Observation.State.ON,
              "",
              new Observation.Period(
                  "cold", 1, Math.max(2, now), 5, now / (5 * SECOND), voidEpochs, 0),
              new Observation.Space(0, 0, 0),
              some.slots(),
              new Observation.Placement(0, 0, 0),
              watchReason,
              ""),
          objects,
          Map.of(1, use));
    }

    /** Starts a search that never ends. */
    @Override
    public String searchMemory(List<Integer> sites, long mostBytes) {
      return "";
    }

    @Override
    public MemorySearch memorySearch() {
      return new MemorySearch(
          MemorySearch.State.RUNNING,
          "",
          1,
          new MemorySearch.Effort(0, 0, 0),
          new MemorySearch.Coverage(0, 0, 0),
          0,
          List.of());
    }

    @Override
    public String watchUse(List<Integer> sites) {
      watched = sites;
      return refusal;
    }

    @Override
    public List<WatchedAccess> watchedAccesses() {
      return seen;
    }
  }

  @Test
  void verdictsEndWithTheCountingAndComeAgainWithIt() {
    watch.configure(MallometerOptions.defaults());
    live(UNTIL_A_LEAK);
    assertThat(watch.latest().leaks()).isNotEmpty();

    watch.suspend("detached");
    assertThat(watch.latest().sites()).isEmpty();
    assertThat(watch.latest().reason()).isEqualTo("detached");
    assertThat(watch.summary()).isEmpty();
    assertThat(library.observes).isFalse();

    live(Duration.ofMinutes(1));
    assertThat(library.observes).isTrue();
    assertThat(watch.latest().leaks()).isNotEmpty();
  }

  private void live(Duration time) {
    live(watch, time);
  }

  private void live(LeakWatch watch, Duration time) {
    long end = library.now + time.toNanos();
    while (library.now < end) {
      watch.evaluateIfDue(20);
      library.now += SECOND;
    }
  }

  @Test
  void sitesAreJudgedEvery15SecondsDividedByTheTimeScale() {
    watch.configure(MallometerOptions.defaults());
    live(Duration.ofMinutes(5));
    int before = library.readings;
    assertThat(before).isBetween(19, 21);
    assertThat(library.shortestEpoch).isEqualTo(Duration.ofSeconds(5));

    watch.configure(MallometerOptions.defaults().with(Setting.LEAK_TIME_SCALE, 5.0));
    live(Duration.ofMinutes(5));
    assertThat(library.readings - before).isBetween(95, 101);
    assertThat(library.shortestEpoch).isEqualTo(Duration.ofSeconds(1));

    watch.configure(MallometerOptions.defaults());
    live(Duration.ofMinutes(1));
    assertThat(library.shortestEpoch).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void anotherProfileKeepsWhatIsKnownOfTimeInWhichNothingWasSeen() {
    MallometerOptions noTimeouts =
        MallometerOptions.defaults().with(Setting.LEAK_LONGEST_TIMEOUT, Duration.ZERO);
    watch.configure(noTimeouts);
    live(Duration.ofMinutes(10));
    library.voidForEachReading = 2;
    live(Duration.ofMinutes(10));
    library.voidForEachReading = 0;
    live(Duration.ofMinutes(10));
    watch.configure(noTimeouts.with(Setting.LEAK_WORKLOAD, LeakWorkload.INTERACTIVE));
    live(Duration.ofMinutes(1));
    // The site allocated an object every 20 s for 31 minutes. The threshold is two minutes, so all
    // objects are idle except those of the last two minutes.
    assertThat(watch.latest().leaks()).hasSize(1);
    assertThat(watch.latest().leaks().get(0).suspected().objects().value()).isBetween(85.0, 88.0);
  }

  @Test
  void aDearEvaluationIsRepeatedOnceAMinute() {
    watch.configure(MallometerOptions.defaults());
    library.costNanos = SECOND / 2;
    live(Duration.ofMinutes(10));
    assertThat(library.readings).isBetween(9, 11);
  }

  /** The test discards the call sites after each poll, as the poller does. */
  @Test
  void anEvaluationCausesNoReadingOfItsOwn() {
    watch.configure(MallometerOptions.defaults());
    library.costNanos = SECOND / 50;
    library.siteReadingNanos = SECOND / 25;
    for (int polls = 0; polls < 20 * 12; polls++) {
      Snapshot poll = library.read(clock.instant());
      callSites.read(poll);
      watch.evaluateIfDue(20);
      callSites.published(poll);
      library.now += 5 * SECOND;
    }
    // The call sites are read every 30 s anyway, and evaluations use these readings.
    assertThat(library.siteReadings).isBetween(39, 41);
    assertThat(library.readings).isBetween(20, 41);
  }

  @Test
  void nothingIsObservedWhileItIsSwitchedOff() {
    MallometerOptions off = MallometerOptions.defaults().with(Setting.LEAK_ENABLED, false);
    watch.configure(off);
    live(Duration.ofMinutes(1));
    assertThat(library.readings).isZero();
    assertThat(library.shortestEpoch).isZero();
    assertThat(watch.latest().reason()).contains("mallometer.leak.enabled");
    assertThat(watch.summary()).isEmpty();

    watch.configure(MallometerOptions.defaults());
    live(Duration.ofSeconds(20));
    assertThat(watch.summary()).isPresent();

    watch.configure(off);
    int before = library.readings;
    live(Duration.ofMinutes(1));
    assertThat(library.readings).isEqualTo(before);
    assertThat(watch.summary()).isEmpty();
  }

  @Test
  void whatWasJudgedBeforeObservationEndedDoesNotCountWhenItBeginsAgain() {
    watch.configure(MallometerOptions.defaults());
    live(UNTIL_A_LEAK);
    assertThat(library.observes).isTrue();
    assertThat(watch.latest().leaks()).hasSize(1);
    watch.end();
    assertThat(library.observes).isFalse();

    watch.configure(MallometerOptions.defaults());
    live(Duration.ofSeconds(15));
    assertThat(library.observes).isTrue();
    assertThat(watch.latest().leaks()).isEmpty();
    live(Duration.ofMinutes(1));
    assertThat(watch.latest().leaks()).hasSize(1);
  }

  @Test
  void aLeakIsFoundAndWarnedOfOnceADay() throws Exception {
    watch.configure(MallometerOptions.defaults());
    try (Logged log = new Logged(Mallometer.class.getName())) {
      live(UNTIL_A_LEAK);
      assertThat(watch.latest().leaks()).extracting(one -> one.site().number()).containsExactly(1);
      assertThat(log.messages()).hasSize(1).first().asString().contains("Cart.zip keeps");

      live(Duration.ofMinutes(10));
      assertThat(log.messages()).hasSize(1);

      library.now += Duration.ofDays(1).toNanos();
      live(Duration.ofMinutes(1));
      assertThat(log.messages()).hasSize(2);
    }
  }

  @Test
  void aSiteThatIsSaidToBeFineIsNoAlarm() {
    watch.configure(
        MallometerOptions.defaults().with(Setting.LEAK_ACKNOWLEDGED_SITES, List.of("com.shop.*")));
    live(UNTIL_A_LEAK);
    assertThat(watch.latest().leaks()).isEmpty();
    assertThat(watch.latest().suspicious())
        .extracting(SiteVerdict::verdict, SiteVerdict::acknowledged)
        .containsExactly(tuple(Verdict.LEAK, true));
    assertThat(watch.summary().orElseThrow().counts().leaking()).isZero();
    assertThat(library.watched).isEmpty();
  }

  @Test
  void whatIsSaidOfASiteHoldsAtOnceAndCanBeTakenBack() {
    watch.configure(MallometerOptions.defaults());
    live(UNTIL_A_LEAK);
    watch.acknowledge("com.shop.Cart.zip", true);
    assertThat(watch.latest().leaks()).isEmpty();

    watch.acknowledge("com.shop.Cart.zip", false);
    assertThat(watch.latest().leaks()).hasSize(1);
  }

  @Test
  void recordsOfCompiledCodeAreFineUntilSomebodySaysOtherwise() {
    AcknowledgedSites sites = new AcknowledgedSites();
    String record = "libjvm.so!ImmutableOopMapSet::build_from";

    assertThat(sites.contain(record)).isTrue();
    assertThat(sites.contain("libjvm.so!Monitor::Monitor")).isFalse();
    sites.remove(record);
    assertThat(sites.contain(record)).isFalse();
  }

  @Test
  void aSiteThatCannotBeJudgedIsLoggedOnce() throws Exception {
    watch.configure(MallometerOptions.defaults());
    library.use = new SiteUse(1, 0, null, null, null);
    try (Logged log = new Logged(Mallometer.class.getName())) {
      live(Duration.ofMinutes(5));
      assertThat(log.messages()).hasSize(1).first().asString().contains("cannot be judged");
    }
    assertThat(watch.latest().sites()).hasSize(1);
  }

  @Test
  void theFirstLeakIsTheWorstInWords() {
    watch.publish(
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.LEAK, "com.shop.Cart.zip", 1, 1e6),
            VerdictsByHand.verdict(Verdict.LEAK, "com.shop.Report.render", 2, 2e6)));
    assertThat(watch.summary().orElseThrow().worstInWords())
        .contains("com.shop.Cart.zip keeps memory");
  }

  /** Call sites of mallometer itself have verdicts in the report, but they are never suspects. */
  @Test
  void ownSitesAreNoSuspects() {
    watch.publish(
        VerdictsByHand.report(
            VerdictsByHand.verdict(Verdict.LEAK, "io.mallometer.internal.x.Y.read", 1, 1e6),
            VerdictsByHand.verdict(Verdict.GROWING, "io.mallometer.internal.x.Y.name", 2, 1e6)));
    assertThat(watch.latest().sites()).hasSize(2);
    assertThat(watch.latest().suspicious()).isEmpty();
    assertThat(watch.latest().leaks()).isEmpty();
    assertThat(watch.summary().orElseThrow().counts().leaking()).isZero();
    assertThat(watch.summary().orElseThrow().counts().growing()).isZero();
  }

  @Test
  void whatIsSaidOfASiteOutlivesTheProcessInAFile(@TempDir Path directory) {
    MallometerOptions options =
        MallometerOptions.defaults()
            .with(Setting.LEAK_ACKNOWLEDGED_SITES_FILE, directory.resolve("healthy"));
    watch.configure(options);
    watch.acknowledge("com.shop.Cart.zip", true);

    LeakWatch next = newWatch();
    next.configure(options);
    live(next, UNTIL_A_LEAK);
    assertThat(next.latest().suspicious())
        .extracting(SiteVerdict::verdict, SiteVerdict::acknowledged)
        .containsExactly(tuple(Verdict.LEAK, true));
    next.acknowledge("com.shop.Cart.zip", false);

    LeakWatch last = newWatch();
    last.configure(options);
    live(last, Duration.ofMinutes(1));
    assertThat(last.latest().leaks()).hasSize(1);
  }

  @Test
  void aLeakThatTheNextRunKnowsIsOneSoonerThere() {
    watch.configure(MallometerOptions.defaults());
    live(Duration.ofMinutes(30));
    assertThat(watch.knownLeaks()).isEmpty();
    live(Duration.ofMinutes(15));
    assertThat(watch.knownLeaks())
        .extracting(KnownLeak::evidence)
        .containsExactly(LeakEvidence.OUTLASTED);

    library.now = 0;
    LeakWatch next = newWatch();
    next.addKnownLeaks(watch.knownLeaks());
    next.configure(MallometerOptions.defaults());
    live(next, Duration.ofMinutes(30));
    assertThat(next.latest().leaks())
        .extracting(leak -> leak.grounds().evidence())
        .containsExactly(LeakEvidence.KNOWN);
    assertThat(next.knownLeaks()).isEqualTo(watch.knownLeaks());
  }

  @Test
  void atRestNothingIsObservedOrWatchedUntilTheNextEvaluation() {
    watch.configure(MallometerOptions.defaults());
    live(UNTIL_A_LEAK);
    assertThat(library.watched).containsExactly(1);

    watch.stopObserving();
    assertThat(library.observes).isFalse();
    assertThat(library.watched).isEmpty();

    live(Duration.ofMinutes(1));
    assertThat(library.observes).isTrue();
  }

  @Test
  void leaksAreWatchedForTheirLastUse() {
    watch.configure(MallometerOptions.defaults());
    live(UNTIL_A_LEAK);
    assertThat(library.watched).containsExactly(1);
    assertThat(watch.latest().leaks().get(0).grounds().lastAccess().unavailable())
        .isEqualTo("no access since the watch began");

    library.seen =
        List.of(
            new WatchedAccess(
                1,
                true,
                library.now - 30 * SECOND,
                "worker",
                List.of(StackFrame.ofJava("a.B", "use", "", 0))));
    Instant used = clock.instant().minusSeconds(30);
    live(Duration.ofSeconds(30));
    SiteVerdict leak = watch.latest().leaks().get(0);
    assertThat(leak.grounds().lastWrite().time()).contains(used);
    assertThat(leak.grounds().lastWrite().thread()).isEqualTo("worker");
    assertThat(leak.grounds().lastWrite().frames()).hasSize(1);
    assertThat(leak.grounds().lastAccess())
        .as("a write is an access")
        .isEqualTo(leak.grounds().lastWrite());
  }

  @Test
  void whereNothingCanBeWatchedTheReasonIsGiven() {
    watch.configure(MallometerOptions.defaults());
    library.watchReason = "perf_event_open is forbidden";
    live(UNTIL_A_LEAK);
    assertThat(watch.latest().leaks().get(0).grounds().lastAccess().unavailable())
        .isEqualTo("perf_event_open is forbidden");
  }

  @Test
  void eachListenerIsToldOnceOfEachLeak() {
    List<String> told = new ArrayList<>();
    NewLeakNotifier news =
        new NewLeakNotifier(
            watch::latest, leak -> told.add(leak.site().name()), task -> task.run());
    Snapshot any = Snapshot.absent(START, Status.counting());
    watch.publish(VerdictsByHand.report());
    news.accept(any);
    watch.publish(VerdictsByHand.four());
    news.accept(any);
    news.accept(any);
    assertThat(told).containsExactly("com.shop.Report.render");

    watch.publish(VerdictsByHand.report());
    news.accept(any);
    watch.publish(VerdictsByHand.four());
    news.accept(any);
    assertThat(told).hasSize(2);

    news.close();
    watch.publish(VerdictsByHand.report());
    news.accept(any);
    watch.publish(VerdictsByHand.four());
    news.accept(any);
    assertThat(told).hasSize(2);
  }

  @Test
  void aLeakIsToldOnceHoweverItsStacksChange() {
    List<Integer> told = new ArrayList<>();
    NewLeakNotifier news =
        new NewLeakNotifier(watch::latest, leak -> told.add(leak.site().number()), Runnable::run);
    for (SiteVerdict leak : List.of(leakOf(1, 3), leakOf(2, 2), leakOf(2, 1))) {
      watch.publish(VerdictsByHand.report(leak));
      news.accept(Snapshot.absent(START, Status.counting()));
    }
    assertThat(told).containsExactly(1);
  }

  private static SiteVerdict leakOf(int number, int stacks) {
    return VerdictsByHand.verdict(Verdict.LEAK, "com.shop.Cart.zip", number, stacks, 1e6);
  }
}
