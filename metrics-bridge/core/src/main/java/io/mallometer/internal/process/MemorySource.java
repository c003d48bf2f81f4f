package io.mallometer.internal.process;

import io.mallometer.internal.interposer.Experimental;
import io.mallometer.internal.interposer.TaskInfo;
import io.mallometer.internal.text.SystemTime;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Snapshot;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the facade asks where memory goes. Tests feed the facade through it. Called by one thread at
 * a time.
 */
public interface MemorySource {

  /** Whether there is anything to read. Never changes. */
  boolean present();

  /**
   * Reads the figures that are due, and repeats the others. Never throws if this system lacks some
   * of them.
   *
   * @param counted reads the native library's counters, which divide malloc's memory; called at the
   *     moment of the other readings
   * @param statedLimit the limit that a person stated
   */
  ProcessMemory read(Supplier<Snapshot> counted, OptionalLong statedLimit);

  /** Makes the next {@link #read} read everything again, unless that was asked for just before. */
  default void renew() {}

  /**
   * The resident set now. May be called by any thread, at any time; takes about a millisecond for
   * each gigabyte. Empty if unknown.
   */
  OptionalLong residentBytes();

  /** This process, where there is a {@code /proc}, or on macOS if that is asked for. */
  static MemorySource ofThisProcess() {
    if (Experimental.onMacos()) {
      return new TaskMemorySource(TaskInfo::read, TaskMemorySource::machineBytes, SystemTime.NANOS);
    }
    return new ProcessMemorySource(
        new ProcessFiles(),
        SystemTime.NANOS,
        new LongSupplier() {
          @Override
          public long getAsLong() {
            return ProcessMemorySource.processorNanos();
          }
        });
  }

  /** Nothing to read. */
  static MemorySource none() {
    return new MemorySource() {
      @Override
      public boolean present() {
        return false;
      }

      @Override
      public ProcessMemory read(Supplier<Snapshot> counted, OptionalLong statedLimit) {
        return ProcessMemory.unknown();
      }

      @Override
      public OptionalLong residentBytes() {
        return OptionalLong.empty();
      }
    };
  }
}
