package io.mallometer.interposer;

import io.mallometer.NativeCounters;
import io.mallometer.Snapshot;
import io.mallometer.Status;
import java.time.Instant;
import java.util.Optional;

/** No library, or none that can be read: only the status says something. */
record AbsentInterposer(Status status) implements Interposer {

  @Override
  public boolean present() {
    return false;
  }

  @Override
  public Snapshot read(Instant time) {
    return Snapshot.absent(time, status);
  }

  @Override
  public Optional<NativeCounters> process() {
    return Optional.empty();
  }

  @Override
  public Optional<NativeCounters> thread() {
    return Optional.empty();
  }
}
