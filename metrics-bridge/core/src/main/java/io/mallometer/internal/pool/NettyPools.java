package io.mallometer.internal.pool;

import io.mallometer.internal.pool.NettyCopy.Names;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads the pools of every copy of Netty 4.1 and 4.2 in the process: those of {@code
 * PooledByteBufAllocator} and {@code AdaptiveByteBufAllocator}. A copy in another package is
 * recognized by the ends of its class names.
 *
 * <p>Reads the buffers that Netty's leak detector tracks: by default one buffer in 128, with the
 * stack of its allocation.
 *
 * <p>Does not change the application: loads and initializes none of its classes, sets no field
 * unless a setting requests this, and refers to its objects, classes and class loaders only weakly.
 * Looks up members by method handles, because reflection would load the types of all members of a
 * class. Only the poller's thread uses this class.
 */
final class NettyPools {

  private final Function<List<StackTraceElement>, String> lines;

  /** The copies of Netty, by the identity hash code of their buffer class. */
  private Map<Integer, NettyCopy> copies = new HashMap<>();

  /** N, if Netty's leak detector is to track one in N buffers; 0 leaves the detector as it is. */
  private volatile int interval;

  NettyPools(Function<List<StackTraceElement>, String> lines) {
    this.lines = lines;
  }

  void track(int oneIn) {
    interval = oneIn;
  }

  /**
   * Reads the pools of all copies of Netty.
   *
   * @param found the initialized classes whose names end with one of {@link Names#ALL}
   */
  List<PoolReading> read(List<Class<?>> found, Look look) {
    Map<Integer, NettyCopy> present = new LinkedHashMap<>();
    List<PoolReading> readings = new ArrayList<>();
    for (Class<?> root : found) {
      if (root.getName().endsWith(Names.BUFFER)) {
        NettyCopy copy = copies.get(System.identityHashCode(root));
        copy = copy != null && copy.isOf(root) ? copy : new NettyCopy(root, lines);
        present.put(System.identityHashCode(root), copy);
        readings.addAll(copy.read(root, found, interval, look));
      }
    }
    copies = present;
    return readings;
  }
}
