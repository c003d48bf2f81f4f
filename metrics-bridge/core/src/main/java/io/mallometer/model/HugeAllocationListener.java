package io.mallometer.model;

/** A listener for requests above {@link SelfReport#hugeThresholdBytes()}. */
@FunctionalInterface
public interface HugeAllocationListener {

  /**
   * Receives a request, at most one poll interval after it was made. Mallometer calls this on a
   * thread that runs only listeners.
   *
   * @param missedBefore the number of requests since the previous call that were lost because the
   *     library's buffer was full
   */
  void onHugeAllocation(HugeAllocation allocation, long missedBefore);
}
