package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class TaskMemorySourceTest {

  private static final Snapshot NOTHING_COUNTED =
      Snapshot.absent(Instant.EPOCH, new Status(State.UNAVAILABLE, "not preloaded", ""));

  private OptionalLong task = OptionalLong.of(300);
  private int readings;
  private long nanos = 42;
  private final TaskMemorySource source =
      new TaskMemorySource(
          () -> {
            readings++;
            return task;
          },
          () -> 16e9,
          () -> nanos);

  private ProcessMemory read() {
    return source.read(() -> NOTHING_COUNTED, OptionalLong.of(900), List::of);
  }

  @Test
  void theResidentSetAndTheMachineAreKnownAndNothingElse() {
    assertThat(source.present()).isTrue();
    assertThat(read())
        .isEqualTo(
            new ProcessMemory(
                300,
                Double.NaN,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                16e9,
                Double.NaN,
                900));
    assertThat(source.residentBytes()).hasValue(300);
  }

  @Test
  void theKernelIsAskedOnceASecond() {
    for (int tenths = 0; tenths < 100; tenths++) {
      read();
      nanos += Duration.ofMillis(100).toNanos();
    }

    assertThat(readings).isEqualTo(10);
    source.renew();
    read();
    assertThat(readings).isEqualTo(11);
  }

  @Test
  void whatTheKernelDoesNotTellIsUnknown() {
    task = OptionalLong.empty();

    assertThat(read().residentBytes()).isNaN();
    assertThat(source.residentBytes()).isEmpty();
  }

  @Test
  void theMachinesMemoryIsThatOfTheJvm() {
    assertThat(TaskMemorySource.machineBytes()).isGreaterThan(1e8);
  }
}
