package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.util.List;
import java.util.Optional;

/**
 * Counts of native allocations since counting began, or within a scope.
 *
 * <p>A successful malloc, calloc, memalign, ... is one allocation, free of a pointer is one free, a
 * successful realloc of a pointer is one of each, also in place; failures count only as failed.
 * <em>Requested</em> bytes are what callers asked for. <em>Allocated</em> and <em>freed</em> bytes
 * share one unit, which {@link SelfReport#byteUnit()} names, so that their difference is the memory
 * in use; they are not comparable with requested bytes.
 *
 * @param allocationsBySize successful allocations by requested size
 * @param baseline the live bytes when mallometer attached
 */
public record NativeCounters(
    SizeDistribution allocationsBySize,
    @Figure(value = "Frees", unit = COUNT) long frees,
    @Figure(value = "Allocation calls that failed", unit = COUNT) long failed,
    @Figure(value = "Bytes asked for by successful allocations", unit = BYTES) long requestedBytes,
    @Figure(value = "Bytes handed out", unit = BYTES) long allocatedBytes,
    @Figure(value = "Bytes given back", unit = BYTES) long freedBytes,
    @Figure(
            value =
                "The highest liveBytes since counting began, also within a bracket; unknown "
                    + "where nothing tells: for a thread, or when live bytes are",
            unit = BYTES)
        double peakBytes,
    @Figure(
            value =
                "The true peak is at most this many bytes above peakBytes. It is lower at "
                    + "most by what other threads freed in the microseconds in which the counters "
                    + "were summed, and after an attach by the baseline's error. Unknown if the "
                    + "peak is unknown",
            unit = BYTES)
        double peakErrorBytes,
    @Figure(
            value =
                "The largest successful request since counting began, in bytes; unknown until "
                    + "one exceeded 32 KiB, and for a thread",
            unit = BYTES)
        double largestRequestBytes,
    @Figure(value = "Successful allocations above the huge threshold", unit = COUNT)
        long hugeAllocations,
    @Figure(
            value = "Threads that have counted something and have not ended; 1 for a thread",
            unit = COUNT)
        int threads,
    @Figure(
            value =
                "Bytes in use, those included that were allocated before mallometer attached; "
                    + "in a bracket or for a thread the net change, which may be negative. unknown "
                    + "when counting was off for some time, or the baseline is unknown",
            unit = BYTES)
        double liveBytes,
    Baseline baseline,
    @Figure("Whether counting was on all the time; if not, live and peak are unknown")
        boolean complete) {

  /** Creates counts from the start of the process, or of a thread. */
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

  @Figure(value = "Successful allocations of all sizes", unit = COUNT)
  public long allocations() {
    return allocationsBySize.total();
  }

  @Figure(value = "Successful allocations of at most 4096 bytes", unit = COUNT)
  public long smallAllocations() {
    return allocationsBySize.small();
  }

  @Figure(value = "Successful allocations above 4096 bytes", unit = COUNT)
  public long largeAllocations() {
    return allocationsBySize.large();
  }

  /**
   * Returns the live objects; in a bracket or for a thread the net change, which may be negative.
   * {@code NaN} when counting was off for some time, or began with an attach: how many there were
   * then is unknown.
   */
  @Figure(
      value = "Live objects; unknown if counting was off for some time, or began with an attach",
      unit = COUNT)
  public double liveObjects() {
    return complete && baseline.equals(Baseline.NONE) ? allocations() - frees : Double.NaN;
  }

  @Figure("Successful allocations by requested size, smallest first")
  public List<SizeDistribution.SizeClass> requestSizes() {
    return allocationsBySize.classes();
  }

  /** Returns the baseline after an attach, which {@link #liveBytes} contains. */
  @Figure("Memory that was live when mallometer attached; absent without an attach")
  public Optional<Baseline> allocatedBefore() {
    return baseline.equals(Baseline.NONE) ? Optional.empty() : Optional.of(baseline);
  }

  /**
   * Returns the counts between {@code start} and this. Peak, largest request, threads and
   * completeness are not differences: they stay those of this.
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
