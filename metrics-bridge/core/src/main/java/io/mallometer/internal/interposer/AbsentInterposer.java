package io.mallometer.internal.interposer;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.Optional;

/**
 * No library, or none that can be read: only the status says something.
 *
 * @param allocator what serves the allocations, as far as that shows from outside
 * @param unreadable whether the library, or JNA, was tried in vain
 */
record AbsentInterposer(Status status, String allocator, boolean unreadable) implements Interposer {

  AbsentInterposer(Status status, String allocator) {
    this(status, allocator, false);
  }

  AbsentInterposer(Status status) {
    this(status, SelfReport.UNKNOWN, false);
  }

  static AbsentInterposer unreadable(Status status) {
    return new AbsentInterposer(status, SelfReport.UNKNOWN, true);
  }

  @Override
  public boolean present() {
    return false;
  }

  @Override
  public Snapshot read(Instant time) {
    return new Snapshot(time, status, Optional.empty(), SelfReport.absent(allocator));
  }

  @Override
  public Optional<NativeCounters> process() {
    return Optional.empty();
  }

  @Override
  public Optional<NativeCounters> thread() {
    return Optional.empty();
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
