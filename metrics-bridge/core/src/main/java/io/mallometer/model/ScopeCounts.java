package io.mallometer.model;

/**
 * Counts of a scope. {@link NativeCounters} describes the events and units.
 *
 * @param allocationsBySize successful allocations by requested size
 * @param frees frees, also of objects that were allocated outside of the scope
 * @param failed allocation calls that failed
 * @param requestedBytes bytes asked for by successful allocations
 * @param allocatedBytes bytes handed out
 * @param freedBytes bytes given back, in the unit of {@code allocatedBytes}
 * @param netBytes allocated less freed bytes; negative if more was freed. {@code NaN} if counting
 *     was off for some time within the scope
 * @param peakBytes the most by which live bytes exceeded those at the scope's beginning; 0 if they
 *     never did. {@code NaN} if unknown
 * @param peakErrorBytes how much higher or lower the true peak can be; 0 in the scope of a thread,
 *     whose peak is exact. {@code NaN} if the peak is unknown
 * @param largestBytes the largest successful request within the scope; 0 if there was none. In a
 *     scope over the process the true size may be lower, by up to {@code largestErrorBytes}. {@code
 *     NaN} if unknown
 * @param largestErrorBytes 0 if {@code largestBytes} is exact; {@code NaN} if that is unknown
 */
public record ScopeCounts(
    SizeDistribution allocationsBySize,
    long frees,
    long failed,
    long requestedBytes,
    long allocatedBytes,
    long freedBytes,
    double netBytes,
    double peakBytes,
    double peakErrorBytes,
    double largestBytes,
    double largestErrorBytes) {

  /** Counts of a scope in which nothing was allocated and nothing freed. */
  public static final ScopeCounts NONE =
      new ScopeCounts(SizeDistribution.of(sizeClass -> 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Returns the number of successful allocations of all sizes. */
  public long calls() {
    return allocationsBySize.total();
  }

  /** Returns the number of successful allocations of at most 4096 bytes. */
  public long smallCalls() {
    return allocationsBySize.small();
  }

  /** Returns the number of successful allocations above 4096 bytes. */
  public long largeCalls() {
    return allocationsBySize.large();
  }

  /**
   * Returns the sum of two scopes that did not overlap in one thread. Its peak is the sum of both
   * peaks. The true peak is not higher; how much lower it is depends on whether the scopes ran at
   * the same time, so the error is that sum.
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
