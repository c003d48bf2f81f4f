package io.mallometer.internal.library;

import io.mallometer.model.NativeCounters;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.Status;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A scope (a measured stretch of execution). Its counts are the counters at its end minus those at
 * its start.
 */
final class CountedScope implements OpenScope {

  private static final String ONLY_COUNTS = "peak, largest allocation and matches are not measured";

  private final NativeLibrary library;
  private final Supplier<Optional<NativeCounters>> counters;
  private final Optional<NativeCounters> start;

  private CountedScope(NativeLibrary library, Supplier<Optional<NativeCounters>> counters) {
    this.library = library;
    this.counters = counters;
    this.start = counters.get();
  }

  static CountedScope ofProcess(NativeLibrary library) {
    return new CountedScope(library, library::process);
  }

  /** Opens a scope over the calling thread. Another thread that reads the scope gets no counts. */
  static CountedScope ofThread(NativeLibrary library) {
    Thread owner = Thread.currentThread();
    return new CountedScope(
        library, () -> Thread.currentThread() == owner ? library.thread() : Optional.empty());
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
    Status status = library.read(Instant.now()).status();
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
