package io.mallometer;

import io.mallometer.internal.library.AbsentLibrary;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.time.Instant;

/** A library that reports only its status. Tests override the methods that they need. */
public class SilentLibrary extends AbsentLibrary {

  private final Status status;

  public SilentLibrary(Status status) {
    super(status);
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
}
