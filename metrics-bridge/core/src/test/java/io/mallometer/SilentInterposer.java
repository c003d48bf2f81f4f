package io.mallometer;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.Optional;

/** A library that says nothing but its status; tests let it say more. */
public class SilentInterposer implements Interposer {

  private final Status status;

  /** Present, unless the status is that there is none. */
  public SilentInterposer(Status status) {
    this.status = status;
  }

  @Override
  public boolean present() {
    return status.state() != State.UNAVAILABLE;
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
    return process();
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    return Optional.empty();
  }

  @Override
  public boolean trim() {
    return false;
  }
}
