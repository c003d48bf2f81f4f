package io.mallometer.model;

/** Listener for requests above {@link SelfReport#hugeThresholdBytes()}. */
@FunctionalInterface
public interface HugeAllocationListener {

  /**
   * A request was seen, up to a poll interval after it was made. Called on a thread of mallometer's
   * on which nothing waits but other listeners.
   *
   * @param allocation the request
   * @param missedBefore requests between the one told before and this one that are not known any
   *     more, because more came in than are kept
   */
  void onHugeAllocation(HugeAllocation allocation, long missedBefore);
}
