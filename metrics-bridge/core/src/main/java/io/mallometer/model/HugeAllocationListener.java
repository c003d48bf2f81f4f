package io.mallometer.model;

/** A listener for requests above {@link SelfReport#hugeThresholdBytes()}. */
@FunctionalInterface
public interface HugeAllocationListener {

  /**
   * Receives a request, at most one poll interval after it was made. Mallometer calls this on a
   * thread that runs only listeners.
   *
   * @param missedBefore the number of lost requests since the previous call; requests are lost
   *     while the library's buffer is full
   */
  void onHugeAllocation(HugeAllocation allocation, long missedBefore);
}
