package io.mallometer.internal.history;

import io.mallometer.Mallometer;
import io.mallometer.SimulatedCheckpoints;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.Setting;
import java.time.Duration;
import java.time.Instant;

/** A program that is recorded, comes to a checkpoint and is restored. */
public final class CheckpointedProgram {

  private CheckpointedProgram() {}

  /** Says what is open, and how it is recorded. */
  public static void main(String[] arguments) throws Exception {
    Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(100)));
    Checkpoints.around(
        () -> {
          throw new IllegalStateException("fails before");
        },
        () -> {
          throw new IllegalStateException("fails after");
        });
    awaitRecording(mallometer);
    System.out.println("open before: " + SimulatedCheckpoints.open());
    SimulatedCheckpoints.begin();
    Instant polled = mallometer.snapshot().time();
    System.out.println("open meanwhile: " + SimulatedCheckpoints.open());
    System.out.println("polled meanwhile: " + mallometer.snapshot().time().isAfter(polled));
    Instant restored = Instant.now();
    SimulatedCheckpoints.end();
    awaitRecording(mallometer);
    System.out.println("open after: " + SimulatedCheckpoints.open());
    System.out.println("restored: " + restored);
    System.out.println("polled after: " + mallometer.snapshot().time().isAfter(restored));
    Thread.sleep(1_500); // for another sample
  }

  private static void awaitRecording(Mallometer mallometer) throws InterruptedException {
    while (mallometer.history().recording().state() == RecordingStatus.State.OFF) {
      Thread.sleep(20);
    }
  }
}
