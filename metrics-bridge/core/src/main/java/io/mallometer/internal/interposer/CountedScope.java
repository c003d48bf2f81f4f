package io.mallometer.internal.interposer;

import io.mallometer.model.NativeCounters;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A scope as the difference of two readings of the counters, for tests and fakes that set the
 * counters themselves. Its peak and its largest allocation are unknown.
 */
final class CountedScope implements OpenScope {

  private static final String ONLY_COUNTS = "peak, largest allocation and matches are not measured";

  private final Interposer interposer;
  private final Supplier<Optional<NativeCounters>> counters;
  private final Optional<NativeCounters> start;

  private CountedScope(Interposer interposer, Supplier<Optional<NativeCounters>> counters) {
    this.interposer = interposer;
    this.counters = counters;
    this.start = counters.get();
  }

  static CountedScope ofProcess(Interposer interposer) {
    return new CountedScope(interposer, interposer::process);
  }

  /** Empty wherever another thread than this one reads it. */
  static CountedScope ofThread(Interposer interposer) {
    Thread owner = Thread.currentThread();
    return new CountedScope(
        interposer, () -> Thread.currentThread() == owner ? interposer.thread() : Optional.empty());
  }

  @Override
  public ScopeFigures read() {
    Optional<NativeCounters> end = start.isEmpty() ? start : counters.get();
    return end.isEmpty()
        ? ScopeFigures.none(reason())
        : new ScopeFigures(
            Optional.of(difference(end.get().minus(start.get()))), Optional.empty(), ONLY_COUNTS);
  }

  @Override
  public ScopeFigures close() {
    return read();
  }

  private String reason() {
    Status status = interposer.read(Instant.now()).status();
    return status.active()
        ? "another thread's scope cannot be read, or counting began within it"
        : status.reason();
  }

  private static ScopeCounts difference(NativeCounters counted) {
    return new ScopeCounts(
        counted.allocationsBySize(),
        counted.frees(),
        counted.failed(),
        counted.requestedBytes(),
        counted.allocatedBytes(),
        counted.freedBytes(),
        counted.liveBytes(),
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN);
  }
}
