package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.abi.TaskInfo;
import io.mallometer.internal.library.load.Experimental;
import io.mallometer.internal.text.SystemTime;
import io.mallometer.model.CallSites;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.Snapshot;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Reads the memory of the process from the operating system. Tests replace it by other sources.
 * Used by one thread at a time.
 */
public interface MemorySource {

  /** Returns whether this source can read anything. The result never changes. */
  boolean present();

  /**
   * Reads the values that are due, and returns the previous values of the others. Values that this
   * system does not report are unknown.
   *
   * @param counted reads the native library's counters, such as malloc's live bytes; called when
   *     the mappings are read
   * @param statedLimit the memory limit that the options state; empty without one
   * @param ranges reads the ranges that the process mapped, ascending by address; called when the
   *     mappings are read
   */
  ProcessMemory read(
      Supplier<Snapshot> counted, OptionalLong statedLimit, Supplier<List<MappedRange>> ranges);

  /** Makes the next {@link #read} read all values anew. A source may ignore frequent requests. */
  default void renew() {}

  /**
   * Returns how much of the resident set each piece of code requested; empty if the system does not
   * report this. May be called by any thread, at any time; takes some ten milliseconds.
   *
   * @param counted the native library's counters at this moment
   * @param ranges the ranges that the process mapped, ascending by address
   */
  default Optional<ResidentStacks> origins(
      Snapshot counted, List<MappedRange> ranges, CallSites sites) {
    return Optional.empty();
  }

  /**
   * Returns the present resident set in bytes; empty if unknown. May be called by any thread, at
   * any time; takes about a millisecond for each gigabyte.
   */
  OptionalLong residentBytes();

  static MemorySource ofThisProcess() {
    if (Experimental.onMacos()) {
      return new TaskMemorySource(
          TaskInfo::residentBytes, TaskMemorySource::machineBytes, SystemTime.NANOS);
    }
    return new ProcessMemorySource(
        new ProcessFiles(),
        SystemTime.NANOS,
        new LongSupplier() {
          @Override
          public long getAsLong() {
            return Pause.processorNanos();
          }
        });
  }

  static MemorySource none() {
    return new MemorySource() {
      @Override
      public boolean present() {
        return false;
      }

      @Override
      public ProcessMemory read(
          Supplier<Snapshot> counted,
          OptionalLong statedLimit,
          Supplier<List<MappedRange>> ranges) {
        return ProcessMemory.unknown();
      }

      @Override
      public OptionalLong residentBytes() {
        return OptionalLong.empty();
      }
    };
  }
}
