package io.mallometer.internal.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.internal.library.FakeLibrary;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.model.TrimReport;
import io.mallometer.model.TrimReport.Outcome;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class TrimmerTest {

  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final FakeLibrary library =
      new FakeLibrary(FaceContract.counters(true, Double.NaN), FaceContract.selfReport());
  private final AtomicLong nanoTime = new AtomicLong(-5);
  private OptionalLong residentBytes = OptionalLong.of(300 << 20);
  private final Trimmer trimmer =
      new Trimmer(library, () -> residentBytes, Clock.fixed(NOW, ZoneOffset.UTC), nanoTime::get);

  @Test
  void whatCameBackIsReported() {
    Trimmer shrinking =
        new Trimmer(
            library,
            () -> OptionalLong.of(library.trims() == 0 ? 300L << 20 : 180L << 20),
            Clock.fixed(NOW, ZoneOffset.UTC),
            nanoTime::get);

    TrimReport report = shrinking.trim(MINUTE);

    assertThat(report.outcome()).isEqualTo(Outcome.DONE);
    assertThat(report.residentBeforeBytes()).isEqualTo(300L << 20);
    assertThat(report.residentAfterBytes()).isEqualTo(180L << 20);
    assertThat(report.returnedBytes()).isEqualTo(120L << 20);
    assertThat(report.explanation()).startsWith("the resident set went from 300.0 to 180.0 MiB");
    assertThat(report.nextPossible()).contains(NOW.plus(MINUTE));
  }

  @Test
  void theSecondWithinAMinuteIsRefusedAndSaysWhenItIsPossible() {
    trimmer.trim(MINUTE);
    nanoTime.addAndGet(Duration.ofSeconds(20).toNanos());

    TrimReport report = trimmer.trim(MINUTE);

    assertThat(report.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(report.explanation())
        .isEqualTo("the latest trim was less than 60 s ago; the next is possible in 40 s");
    assertThat(report.nextPossible()).contains(NOW.plusSeconds(40));
    assertThat(report.residentBeforeBytes()).isNaN();
    assertThat(library.trims()).isEqualTo(1);
  }

  @Test
  void afterAMinuteItIsPossibleAgainThoughRefusalsCameBetween() {
    for (int i = 0; i < 3; i++) {
      trimmer.trim(MINUTE);
      nanoTime.addAndGet(Duration.ofSeconds(20).toNanos());
    }

    assertThat(trimmer.trim(MINUTE).outcome()).isEqualTo(Outcome.DONE);
    assertThat(library.trims()).isEqualTo(2);
  }

  @Test
  void withoutTheLibraryItIsUnsupportedAsOftenAsItIsAsked() {
    library.setStatus(new Status(State.UNAVAILABLE, "not preloaded", ""));

    assertThat(trimmer.trim(MINUTE).outcome()).isEqualTo(Outcome.UNSUPPORTED);
    assertThat(trimmer.trim(MINUTE).outcome()).isEqualTo(Outcome.UNSUPPORTED);
    assertThat(trimmer.trim(MINUTE).nextPossible()).isEmpty();
  }

  @Test
  void whereTheResidentSetIsUnknownSoIsWhatCameBack() {
    residentBytes = OptionalLong.empty();

    TrimReport report = trimmer.trim(MINUTE);

    assertThat(report.outcome()).isEqualTo(Outcome.DONE);
    assertThat(report.returnedBytes()).isNaN();
    assertThat(report.explanation()).startsWith("trimmed in ");
  }

  @Test
  void anAutomaticTrimIsWorthWhileFromItsShareOn() {
    assertThat(AutomaticTrim.worthWhile(snapshot(100), 0.1)).isTrue();
    assertThat(AutomaticTrim.worthWhile(snapshot(99), 0.1)).isFalse();
    assertThat(AutomaticTrim.worthWhile(snapshot(0), 0)).isFalse();
    assertThat(AutomaticTrim.worthWhile(snapshot(Double.NaN), 0)).isFalse();
  }

  @Test
  void automaticTrimsComeAtTheirIntervalWhereTheyAreWorthWhileAndEndWithTheSubscription()
      throws Exception {
    Mallometer.Subscription trims;
    try (FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, Double.NaN), FaceContract.selfReport())) {
      mallometer.setAllocator(FaceContract.allocator(100));
      mallometer.setMemory(memory());
      mallometer.poll();
      mallometer.allocator().trimEvery(Duration.ofMillis(1), 0.2).close();
      trims = mallometer.allocator().trimEvery(Duration.ofMillis(1), 0.1);
      for (int i = 0; i < 1_000 && mallometer.trims() == 0; i++) {
        Thread.sleep(10);
      }
      // A second trim within a minute is refused, however often it is tried.
      assertThat(mallometer.trims()).isEqualTo(1);
    }
    assertThat(trimThreads()).hasSize(1);
    trims.close();
    for (Thread thread : trimThreads()) {
      thread.join(60_000);
    }
    assertThat(trimThreads()).isEmpty();
  }

  private static List<Thread> trimThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(AutomaticTrim.THREAD))
        .toList();
  }

  private static ProcessMemory memory() {
    return new ProcessMemory(1_000, Optional.empty(), Optional.empty(), Optional.empty());
  }

  private static Snapshot snapshot(double trimmable) {
    return Snapshot.absent(NOW, Status.counting())
        .with(memory())
        .with(Optional.of(FaceContract.allocator(trimmable)));
  }
}
