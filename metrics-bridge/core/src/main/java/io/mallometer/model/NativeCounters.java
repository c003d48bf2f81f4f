package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.util.List;
import java.util.Optional;

/**
 * Counts of native allocations since counting began, or within a scope.
 *
 * <p>Each successful malloc, calloc or memalign counts as one allocation, and each free of a
 * pointer as one free. A successful realloc of a pointer counts as one allocation and one free. A
 * failed call counts only as failed.
 *
 * <p><em>Requested</em> bytes are the sizes that callers ask for. Without an attach, the live bytes
 * are the <em>allocated</em> bytes minus the <em>freed</em> bytes. The unit of allocated, freed and
 * live bytes is {@link SelfReport#byteUnit()}, which usually differs from the unit of requested
 * bytes.
 *
 * @param allocationsBySize the numbers of successful allocations by requested size
 * @param baseline the live bytes when mallometer attached
 */
public record NativeCounters(
    SizeDistribution allocationsBySize,
    @Figure(
            value = "Freed native objects",
            unit = COUNT,
            grows = true,
            meter = "native.malloc.frees",
            attribute = "FreeCount")
        long frees,
    @Figure(
            value = "Native allocation calls that failed",
            unit = COUNT,
            grows = true,
            meter = "native.malloc.failures",
            attribute = "FailedAllocationCount")
        long failed,
    @Figure(
            value = "Memory that successful native allocations requested",
            unit = BYTES,
            grows = true,
            meter = "native.malloc.requested",
            attribute = "RequestedBytes")
        long requestedBytes,
    @Figure(
            value = "Allocated native memory, in the unit of freed and live bytes",
            unit = BYTES,
            grows = true,
            meter = "native.malloc.allocated",
            attribute = "AllocatedBytes")
        long allocatedBytes,
    @Figure(
            value = "Freed native memory",
            unit = BYTES,
            grows = true,
            meter = "native.malloc.freed",
            attribute = "FreedBytes")
        long freedBytes,
    @Figure(
            value =
                "Peak of live native memory since counting began, also within a scope; unknown for a thread, and while live memory is",
            unit = BYTES,
            meter = "native.malloc.peak",
            attribute = "PeakBytes")
        double peakBytes,
    @Figure(
            value =
                "The true peak is at most this much above the reported one. It is lower at most by what other threads freed in the microseconds in which the counters were summed, and after an attach by the error of the baseline. Unknown if the peak is",
            unit = BYTES,
            attribute = "PeakErrorBytes")
        double peakErrorBytes,
    @Figure(
            value =
                "The largest successful native request since counting began; unknown until one exceeded 32 KiB, and for a thread",
            unit = BYTES,
            meter = "native.malloc.largest",
            attribute = "LargestRequestBytes")
        double largestRequestBytes,
    @Figure(
            value = "Successful native allocations above the size MALLOMETER_HUGE",
            unit = COUNT,
            grows = true,
            meter = "native.malloc.huge",
            attribute = "HugeAllocationCount")
        long hugeAllocations,
    @Figure(
            value =
                "Threads that have allocated or freed native memory and have not ended; 1 for a thread",
            unit = COUNT,
            attribute = "Threads")
        int threads,
    @Figure(
            value =
                "Live native memory: allocated and not freed, before an attach too; in a scope or for a thread the net change, which may be negative. Unknown when counting was off for some time, or the baseline is unknown",
            unit = BYTES,
            meter = "native.malloc.live",
            attribute = "LiveBytes")
        double liveBytes,
    Baseline baseline,
    @Figure("Whether counting was on all the time; if not, live and peak are unknown")
        boolean complete) {

  /** Creates counts since the start of the process, or of a thread. */
  public NativeCounters(
      SizeDistribution allocationsBySize,
      long frees,
      long failed,
      long requestedBytes,
      long allocatedBytes,
      long freedBytes,
      double peakBytes,
      double peakErrorBytes,
      double largestRequestBytes,
      long hugeAllocations,
      int threads,
      boolean complete) {
    this(
        allocationsBySize,
        frees,
        failed,
        requestedBytes,
        allocatedBytes,
        freedBytes,
        peakBytes,
        peakErrorBytes,
        largestRequestBytes,
        hugeAllocations,
        threads,
        complete ? allocatedBytes - freedBytes : Double.NaN,
        Baseline.NONE,
        complete);
  }

  @Figure(
      value = "Successful native allocation calls of all sizes; up to 4096 bytes are small",
      unit = COUNT,
      grows = true)
  public long allocations() {
    return allocationsBySize.total();
  }

  @Figure(
      value = "Successful native allocation calls of up to 4096 bytes",
      unit = COUNT,
      grows = true,
      attribute = "SmallAllocationCount")
  public long smallAllocations() {
    return allocationsBySize.small();
  }

  @Figure(
      value = "Successful native allocation calls above 4096 bytes",
      unit = COUNT,
      grows = true,
      attribute = "LargeAllocationCount")
  public long largeAllocations() {
    return allocationsBySize.large();
  }

  /**
   * Returns the number of live objects. For a scope or a thread, returns the change, which may be
   * negative.
   *
   * <p>Returns {@code NaN} if counting was off for some time, or began with an attach. In both
   * cases, some live objects may not have been counted.
   */
  @Figure(
      value =
          "Live native objects; unknown if counting was off for some time, or began with an attach",
      unit = COUNT,
      meter = "native.malloc.live.objects",
      attribute = "LiveObjects")
  public double liveObjects() {
    return complete && baseline.equals(Baseline.NONE) ? allocations() - frees : Double.NaN;
  }

  @Figure(
      value = "Sizes that successful native allocations requested, by class, smallest first",
      grows = true)
  public List<SizeDistribution.SizeClass> requestSizes() {
    return allocationsBySize.classes();
  }

  /** Returns the memory that was live before an attach. {@link #liveBytes} includes it. */
  @Figure("Memory that was live when mallometer attached; absent without an attach")
  public Optional<Baseline> allocatedBefore() {
    return baseline.equals(Baseline.NONE) ? Optional.empty() : Optional.of(baseline);
  }

  /**
   * Returns the counts since {@code start}. The peak, the largest request, the number of threads
   * and {@link #complete} cannot be subtracted, so the result has the values of this object.
   */
  public NativeCounters minus(NativeCounters start) {
    return new NativeCounters(
        allocationsBySize.minus(start.allocationsBySize),
        frees - start.frees,
        failed - start.failed,
        requestedBytes - start.requestedBytes,
        allocatedBytes - start.allocatedBytes,
        freedBytes - start.freedBytes,
        peakBytes,
        peakErrorBytes,
        largestRequestBytes,
        hugeAllocations - start.hugeAllocations,
        threads,
        complete
            ? allocatedBytes - start.allocatedBytes - (freedBytes - start.freedBytes)
            : Double.NaN,
        Baseline.NONE,
        complete);
  }
}
