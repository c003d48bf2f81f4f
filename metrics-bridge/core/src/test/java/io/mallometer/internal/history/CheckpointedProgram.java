package io.mallometer.internal.history;

import io.mallometer.Mallometer;
import io.mallometer.SimulatedCheckpoints;
import io.mallometer.internal.process.Checkpoints;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.Setting;
import java.time.Duration;
import java.time.Instant;

/** A program that is recorded while it goes through a checkpoint and a restore. */
public final class CheckpointedProgram {

  private CheckpointedProgram() {}

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
    System.out.println("polled after: " + polledAfter(mallometer, restored));
    // Gives the recorder time to write another sample.
    Thread.sleep(1_500);
  }

  /**
   * Returns whether the latest poll is later than {@code moment}. Waits up to 30 s for such a poll,
   * because a busy machine polls slowly.
   */
  private static boolean polledAfter(Mallometer mallometer, Instant moment) throws Exception {
    Instant deadline = moment.plusSeconds(30);
    while (!mallometer.snapshot().time().isAfter(moment) && Instant.now().isBefore(deadline)) {
      Thread.sleep(20);
    }
    return mallometer.snapshot().time().isAfter(moment);
  }

  private static void awaitRecording(Mallometer mallometer) throws InterruptedException {
    while (mallometer.history().recording().state() == RecordingStatus.State.OFF) {
      Thread.sleep(20);
    }
  }
}
