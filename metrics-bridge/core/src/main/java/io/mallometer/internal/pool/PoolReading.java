package io.mallometer.internal.pool;

import io.mallometer.model.PoolReport.Amounts;
import io.mallometer.model.PoolReport.PoolOrigin;
import java.util.List;

/**
 * What a library says about its pools of one kind.
 *
 * @param origin the library and the kind of the pools
 * @param amounts the sizes
 * @param chunkClasses the beginnings of the names of classes that are on the stack when a chunk is
 *     allocated
 * @param interval the library tracks one buffer in so many; 0 if none
 * @param reason why buffers or figures are missing; empty if nothing is missing
 * @param buffers the live tracked buffers, and those released since the last look
 */
record PoolReading(
    PoolOrigin origin,
    Amounts amounts,
    List<String> chunkClasses,
    int interval,
    String reason,
    Tracked buffers) {

  /**
   * Tracked buffers of one look.
   *
   * @param live those that are live
   * @param released those that were released since the last look
   * @param forgotten those that were ever dropped without release
   * @param source names the copy of the library and how its buffers are drawn: only counts of one
   *     source are compared
   * @param oneIn one tracked buffer in so many is read
   * @param complete whether the look read all new ones
   */
  record Tracked(
      List<TrackedBuffer> live,
      List<TrackedBuffer> released,
      List<Forgotten> forgotten,
      String source,
      int oneIn,
      boolean complete) {

    static final Tracked NONE = new Tracked(List.of(), List.of(), List.of(), "", 1, true);

    /** Returns the buffers of one kind of pools. */
    Tracked of(String kind) {
      return new Tracked(
          live.stream().filter(one -> one.kind().equals(kind)).toList(),
          released.stream().filter(one -> one.kind().equals(kind)).toList(),
          forgotten.stream().filter(one -> one.kind().equals(kind)).toList(),
          source,
          oneIn,
          complete);
    }
  }
}
