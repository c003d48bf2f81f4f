package io.mallometer.internal.pool;

import io.mallometer.internal.pool.NettyCopy.Names;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Reads the pools of Netty 4.1 and 4.2: those of {@code PooledByteBufAllocator} and of {@code
 * AdaptiveByteBufAllocator}, of every copy in the process. A copy in another package is recognized
 * by the ends of its class names.
 *
 * <p>Buffers are those that Netty's leak detector tracks. It is on by default, draws one buffer in
 * 128, and keeps the stack of its allocation until the buffer is released.
 */
final class NettyPools implements PoolLibrary {

  private final Function<List<StackTraceElement>, String> lines;

  /** The copies of Netty by the identity of the class that was found; each refers weakly to it. */
  private Map<Integer, NettyCopy> copies = new HashMap<>();

  /** The detector is to track one buffer in so many; 0 to leave it as it is. */
  private volatile int interval;

  NettyPools(Function<List<StackTraceElement>, String> lines) {
    this.lines = lines;
  }

  /** Lets the leak detector track one buffer in so many from the next look on. */
  void track(int oneIn) {
    interval = oneIn;
  }

  @Override
  public List<String> classes() {
    return Names.ALL;
  }

  @Override
  public List<PoolReading> read(List<Class<?>> found, Look look) {
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
