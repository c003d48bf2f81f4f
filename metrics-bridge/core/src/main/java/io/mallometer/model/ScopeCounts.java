package io.mallometer.model;

/**
 * What was counted in a scope. What the events and units are, {@link NativeCounters} says.
 *
 * @param allocationsBySize successful allocations by requested size
 * @param frees frees, also of objects that were allocated outside of the scope
 * @param failed allocation calls that failed
 * @param requestedBytes bytes asked for by successful allocations
 * @param allocatedBytes bytes handed out
 * @param freedBytes bytes given back, in the unit of {@code allocatedBytes}
 * @param netBytes allocated less freed bytes; negative if more was freed. {@code NaN} if counting
 *     was off for some time within the scope
 * @param peakBytes by how much live bytes exceeded those of the scope's beginning at most; 0 if
 *     they never did. {@code NaN} if unknown
 * @param peakErrorBytes how much higher or lower the true peak can be; 0 in the scope of a thread,
 *     whose peak is exact. {@code NaN} if the peak is unknown
 * @param largestBytes the largest successful request within the scope; 0 if there was none. In the
 *     scope of the process the true one may be lower, by up to {@code largestErrorBytes}. {@code
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

  /** Nothing was allocated and nothing freed. */
  public static final ScopeCounts NONE =
      new ScopeCounts(SizeDistribution.of(sizeClass -> 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Successful allocations of all sizes. */
  public long calls() {
    return allocationsBySize.total();
  }

  /** Successful allocations of at most 4096 bytes. */
  public long smallCalls() {
    return allocationsBySize.small();
  }

  /** Successful allocations above 4096 bytes. */
  public long largeCalls() {
    return allocationsBySize.large();
  }

  /**
   * The sum of two scopes that did not overlap in one thread. Its peak is the sum of both peaks,
   * which the true one does not exceed; how much lower the true one is, depends on whether they ran
   * at the same time, so the error is that sum.
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
