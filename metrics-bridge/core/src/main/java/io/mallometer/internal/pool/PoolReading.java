package io.mallometer.internal.pool;

import io.mallometer.model.PoolReport.Amounts;
import io.mallometer.model.PoolReport.PoolOrigin;
import java.util.List;

/**
 * The memory of a library's pools of one kind (pooled or adaptive), at one reading.
 *
 * @param chunkClasses prefixes of class names; each stack that allocates a chunk has a frame of
 *     such a class
 * @param interval the library tracks one in this many buffers; 0 if it tracks none
 * @param reason the reason why buffers or figures are missing; empty if nothing is missing
 */
record PoolReading(
    PoolOrigin origin,
    Amounts amounts,
    List<String> chunkClasses,
    int interval,
    String reason,
    Tracked buffers) {

  /**
   * The tracked buffers at one reading.
   *
   * @param released the buffers that were released since the last reading
   * @param forgotten the buffers that the application has dropped without release since the start
   * @param source identifies the copy of the library and the value of {@code oneIn}. Buffers of
   *     different sources are counted separately
   * @param oneIn one in this many tracked buffers is read
   * @param complete whether all new buffers were read
   */
  record Tracked(
      List<TrackedBuffer> live,
      List<TrackedBuffer> released,
      List<Forgotten> forgotten,
      String source,
      int oneIn,
      boolean complete) {

    static final Tracked NONE = new Tracked(List.of(), List.of(), List.of(), "", 1, true);

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
