package io.mallometer.model;

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
 * @param frees frees
 * @param failed allocation calls that failed
 * @param requestedBytes bytes asked for by successful allocations
 * @param allocatedBytes bytes handed out
 * @param freedBytes bytes given back
 * @param peakBytes the highest {@link #liveBytes()} since counting began, also within a bracket;
 *     {@code NaN} if unknown: for a thread, or when live bytes are
 * @param peakErrorBytes the true peak is at most this many bytes above {@code peakBytes}. It is
 *     lower at most by what other threads freed in the microseconds in which the counters were
 *     summed, and after an attach by the baseline's error. {@code NaN} if the peak is unknown
 * @param largestRequestBytes the largest successful request since counting began, in bytes; {@code
 *     NaN} until one exceeded 32 KiB, and for a thread
 * @param hugeAllocations successful allocations above {@link SelfReport#hugeThresholdBytes()}
 * @param threads threads that have counted something and have not ended; 1 for a thread
 * @param liveBytes bytes in use, those included that were allocated before mallometer attached; in
 *     a bracket or for a thread the net change, which may be negative. {@code NaN} when counting
 *     was off for some time, or the baseline is unknown
 * @param baseline the live bytes when mallometer attached
 * @param complete whether counting was on all the time; if not, live and peak are unknown
 */
public record NativeCounters(
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
    double liveBytes,
    Baseline baseline,
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

  /** Successful allocations of all sizes. */
  public long allocations() {
    return allocationsBySize.total();
  }

  /** Successful allocations of at most 4096 bytes. */
  public long smallAllocations() {
    return allocationsBySize.small();
  }

  /** Successful allocations above 4096 bytes. */
  public long largeAllocations() {
    return allocationsBySize.large();
  }

  /**
   * Returns the live objects; in a bracket or for a thread the net change, which may be negative.
   * {@code NaN} when counting was off for some time, or began with an attach: how many there were
   * then is unknown.
   */
  public double liveObjects() {
    return complete && baseline.equals(Baseline.NONE) ? allocations() - frees : Double.NaN;
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
