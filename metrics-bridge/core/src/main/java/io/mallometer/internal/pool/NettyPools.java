package io.mallometer.internal.pool;

import io.mallometer.internal.pool.NettyCopy.Names;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads the pools of Netty 4.1 and 4.2, which are those of {@code PooledByteBufAllocator} and
 * {@code AdaptiveByteBufAllocator}. Reads every copy of Netty in the process. A copy in another
 * package is recognized by the ends of its class names.
 *
 * <p>Reads the buffers that Netty's leak detector tracks. The detector is on by default, tracks one
 * buffer in 128, and keeps the stack of its allocation until the buffer is released.
 *
 * <p>Does not change the application. Loads and initializes no class of the application, sets no
 * field unless a setting requests this, and refers to objects, classes and class loaders of the
 * application by weak references only. Single members are looked up by method handles, because
 * reflection would load the types of all members of a class. The poller's thread uses this class.
 */
final class NettyPools {

  private final Function<List<StackTraceElement>, String> lines;

  /**
   * The copies of Netty, by the identity hash code of their buffer class. A copy refers weakly to
   * the class.
   */
  private Map<Integer, NettyCopy> copies = new HashMap<>();

  /** Netty's leak detector is to track one in this many buffers; 0 leaves the detector as it is. */
  private volatile int interval;

  NettyPools(Function<List<StackTraceElement>, String> lines) {
    this.lines = lines;
  }

  /** Makes Netty's leak detector track one buffer in {@code oneIn} from the next reading on. */
  void track(int oneIn) {
    interval = oneIn;
  }

  /**
   * Reads the pools of all copies of Netty.
   *
   * @param found the initialized classes of the process whose names end with one of {@link
   *     Names#ALL}
   * @param look the beginning and the CPU time limit of this reading
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
