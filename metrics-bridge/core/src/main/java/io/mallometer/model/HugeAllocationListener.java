package io.mallometer.model;

/** A listener for requests above {@link SelfReport#hugeThresholdBytes()}. */
@FunctionalInterface
public interface HugeAllocationListener {

  /**
   * Receives a request, up to a poll interval after it was made. Runs on a thread of mallometer
   * that only listeners share.
   *
   * @param allocation the request
   * @param missedBefore the number of requests since the previous call that are lost, because there
   *     were more than the library stores
   */
  void onHugeAllocation(HugeAllocation allocation, long missedBefore);
}
