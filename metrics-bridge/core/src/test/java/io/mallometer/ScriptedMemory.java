package io.mallometer;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Snapshot;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A source of memory that calls a function of the test at each reading. The function receives the
 * supplier of the native library's counters.
 */
record ScriptedMemory(Function<Supplier<Snapshot>, ProcessMemory> reading) implements MemorySource {

  @Override
  public boolean present() {
    return true;
  }

  @Override
  public ProcessMemory read(
      Supplier<Snapshot> counted, OptionalLong statedLimit, Supplier<List<MappedRange>> ranges) {
    return reading.apply(counted);
  }

  @Override
  public OptionalLong residentBytes() {
    return OptionalLong.empty();
  }
}
