package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.FakeMallometer;
import io.mallometer.Mallometer;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/** Checks the monitors with counters that the test sets. */
class MonitoredTest {

  private static final int MIB = 1 << 20;

  private final AtomicBoolean closed = new AtomicBoolean();

  /** Carries the annotation of a test that fails above 20 MiB of live bytes. */
  @MonitorNative(liveSize = 20 * MIB)
  private static final class Present {}

  @MonitorNative(liveSize = 20 * MIB, failing = false)
  private static final class OnlyReported {}

  private static NativeCounters live(long bytes, boolean complete) {
    return new NativeCounters(
        SizeDistribution.of(sizeClass -> 0),
        0,
        0,
        bytes,
        bytes,
        0,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        0,
        1,
        complete);
  }

  private Monitored monitored(Mallometer mallometer, Class<?> annotated) {
    ThisProcess.Watch look =
        new ThisProcess.Watch() {
          @Override
          public LiveReading read() {
            assertThat(closed).isFalse();
            return LiveReading.ofProcess(0);
          }

          @Override
          public void collectGarbage() {}

          @Override
          public double processBytes() {
            return 0;
          }

          @Override
          public String scope() {
            return "Counted (by hand): everything";
          }

          @Override
          public void close() {
            closed.set(true);
          }
        };
    return new Monitored(
        mallometer,
        annotated.getAnnotation(MonitorNative.class),
        Of.PROCESS,
        MonitoredTest.class,
        Optional.of(look),
        Optional.empty());
  }

  @Test
  void aLimitFailsIfItIsNotKnownWhetherItWasExceeded() {
    try (FakeMallometer mallometer = new FakeMallometer(live(MIB, true), SelfReport.absent())) {
      Monitored monitored = monitored(mallometer, Present.class);
      mallometer.setCounters(live(2 * MIB, false));
      String report = monitored.end();
      assertThat(report)
          .startsWith(
              "Native memory: mallometer cannot tell whether more than 20.0 MiB became live: ");
      assertThat(closed).isTrue();
      assertThatThrownBy(() -> monitored.check(report))
          .isInstanceOf(AssertionFailedError.class)
          .hasMessage(report);
    }
  }

  @Test
  void whatIsOnlyReportedDoesNotFailForThat() {
    try (FakeMallometer mallometer = new FakeMallometer(live(MIB, false), SelfReport.absent())) {
      Monitored monitored = monitored(mallometer, OnlyReported.class);
      String report = monitored.end();
      assertThat(report).contains("mallometer cannot tell whether");
      monitored.check(report);
    }
  }

  @Test
  void anInterruptedTestIsToldWhatTheWatcherSaw() {
    try (FakeMallometer mallometer = new FakeMallometer(live(MIB, true), SelfReport.absent())) {
      Monitored monitored = monitored(mallometer, Present.class);
      mallometer.setCounters(live(30 * MIB, true));
      Thread.currentThread().interrupt();
      String report = monitored.end();
      assertThat(Thread.interrupted()).isTrue();
      assertThat(report).startsWith("Native memory: more than 20.0 MiB became live.\n");
      assertThatThrownBy(() -> monitored.check(report)).isInstanceOf(AssertionFailedError.class);
    }
  }
}
