package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

/**
 * The counts of a scope. {@link NativeCounters} describes the events and units.
 *
 * @param allocationsBySize the numbers of successful allocations by requested size
 */
public record ScopeCounts(
    SizeDistribution allocationsBySize,
    @Figure(value = "Frees, also of objects that were allocated outside of the scope", unit = COUNT)
        long frees,
    @Figure(value = "Allocation calls that failed", unit = COUNT) long failed,
    @Figure(value = "Bytes asked for by successful allocations", unit = BYTES) long requestedBytes,
    @Figure(value = "Bytes handed out", unit = BYTES) long allocatedBytes,
    @Figure(value = "Bytes given back, in the unit of allocatedBytes", unit = BYTES)
        long freedBytes,
    @Figure(
            value =
                "Allocated less freed bytes; negative if more was freed. Unknown if counting "
                    + "was off for some time within the scope",
            unit = BYTES)
        double netBytes,
    @Figure(
            value =
                "The most by which live bytes exceeded those at the scope's beginning; 0 if "
                    + "they never did; absent if unknown",
            unit = BYTES)
        double peakBytes,
    @Figure(
            value =
                "How much higher or lower the true peak can be; 0 in the scope of a thread, "
                    + "whose peak is exact. Unknown if the peak is unknown",
            unit = BYTES)
        double peakErrorBytes,
    @Figure(
            value =
                "The largest successful request within the scope; 0 if there was none. In a "
                    + "scope over the process the true size may be lower, by up to "
                    + "largestErrorBytes; absent if unknown",
            unit = BYTES)
        double largestBytes,
    @Figure(value = "0 if largestBytes is exact; unknown if that is unknown", unit = BYTES)
        double largestErrorBytes) {

  /** The counts of a scope in which nothing was allocated and nothing freed. */
  public static final ScopeCounts NONE =
      new ScopeCounts(SizeDistribution.of(sizeClass -> 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  @Figure(value = "Successful allocations of all sizes", unit = COUNT)
  public long calls() {
    return allocationsBySize.total();
  }

  @Figure(value = "Successful allocations of at most 4096 bytes", unit = COUNT)
  public long smallCalls() {
    return allocationsBySize.small();
  }

  @Figure(value = "Successful allocations above 4096 bytes", unit = COUNT)
  public long largeCalls() {
    return allocationsBySize.large();
  }

  /**
   * Returns the sum of two scopes. No thread may have been in both scopes at once.
   *
   * <p>The peak of the result is the sum of both peaks, which is an upper bound. The true peak is
   * much lower if, for example, one scope ended before the other began. The error of the peak is
   * therefore also set to the sum.
   */
  public ScopeCounts plus(ScopeCounts other) {
    double peak = peakBytes + other.peakBytes;
    return new ScopeCounts(
        SizeDistribution.of(i -> allocationsBySize.count(i) + other.allocationsBySize.count(i)),
        frees + other.frees,
        failed + other.failed,
        requestedBytes + other.requestedBytes,
        allocatedBytes + other.allocatedBytes,
        freedBytes + other.freedBytes,
        netBytes + other.netBytes,
        peak,
        peak,
        Math.max(largestBytes, other.largestBytes),
        Math.max(largestErrorBytes, other.largestErrorBytes));
  }
}
