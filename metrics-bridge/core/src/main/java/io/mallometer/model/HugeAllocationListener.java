package io.mallometer.model;

/** A listener for requests above {@link SelfReport#hugeThresholdBytes()}. */
@FunctionalInterface
public interface HugeAllocationListener {

  /**
   * Receives a request, at most one poll interval after it was made. Mallometer calls this on a
   * thread that runs only listeners.
   *
   * @param missedBefore the number of lost requests since the previous call. The library stores
   *     only the latest 64 requests, so requests are lost if more are made between two readings
   */
  void onHugeAllocation(HugeAllocation allocation, long missedBefore);
}
