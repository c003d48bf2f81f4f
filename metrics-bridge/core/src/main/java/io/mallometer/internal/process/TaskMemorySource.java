package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.Snapshot;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Reads the memory of this process on macOS: the resident set from Mach, and the machine's memory
 * from the JVM. The resident set is not divided, because the resident pages of each mapping are
 * expensive to read.
 */
final class TaskMemorySource implements MemorySource {

  private final Supplier<OptionalLong> resident;
  private final DoubleSupplier machineBytes;
  private final LongSupplier nanoTime;
  private ProcessMemory latest = ProcessMemory.unknown();
  private long nextReading = Long.MIN_VALUE;

  /**
   * Creates a source; {@code machineBytes} returns {@code NaN} if the machine's memory is unknown.
   */
  TaskMemorySource(
      Supplier<OptionalLong> resident, DoubleSupplier machineBytes, LongSupplier nanoTime) {
    this.resident = resident;
    this.machineBytes = machineBytes;
    this.nanoTime = nanoTime;
  }

  @Override
  public boolean present() {
    return true;
  }

  @Override
  public ProcessMemory read(
      Supplier<Snapshot> counted, OptionalLong statedLimit, Supplier<List<MappedRange>> ranges) {
    long now = nanoTime.getAsLong();
    if (nextReading == Long.MIN_VALUE || now - nextReading >= 0) {
      nextReading = now + ProcessMemorySource.SHORTEST_READING_NANOS;
      latest =
          new ProcessMemory(
              ProcessMemorySource.figure(residentBytes()),
              Double.NaN,
              Optional.empty(),
              Optional.empty(),
              Optional.empty(),
              machineBytes.getAsDouble(),
              Double.NaN,
              ProcessMemorySource.figure(statedLimit));
    }
    return latest;
  }

  @Override
  public void renew() {
    nextReading = Long.MIN_VALUE;
  }

  @Override
  public OptionalLong residentBytes() {
    return resident.get();
  }

  /**
   * Returns the machine's memory. Reads it as an attribute of the platform's MBean, because some
   * runtimes lack the MBean's class.
   */
  static double machineBytes() {
    try {
      ObjectName system = new ObjectName(ManagementFactory.OPERATING_SYSTEM_MXBEAN_NAME);
      Object bytes =
          ManagementFactory.getPlatformMBeanServer()
              .getAttribute(system, "TotalPhysicalMemorySize");
      return bytes instanceof Number number ? number.doubleValue() : Double.NaN;
    } catch (JMException | RuntimeException e) {
      return Double.NaN;
    }
  }
}
