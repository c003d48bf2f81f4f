package io.mallometer.internal.process;

import io.mallometer.internal.library.abi.DirectCalls;
import io.mallometer.model.ThreadStacks;
import io.mallometer.model.ThreadStacks.ThreadPool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Groups the threads of this JVM by their Java names, because the kernel keeps only 15 characters.
 * The JVM stores the address range of each stack; the resident memory of the stack is that of the
 * mappings in this range. Threads without a Java name, such as those of the collector, belong to no
 * pool.
 */
final class ThreadPools {

  /** The largest number of threads that are read, at about a microsecond each. */
  private static final int MOST_THREADS = 10_000;

  private static final int MOST_NEW_THREADS = 16;

  private static final Pattern NUMBER = Pattern.compile("\\d+");

  private ThreadPools() {}

  static ThreadStacks read(List<Mapping> mappings) {
    try {
      Thread[] threads = threads();
      return threads.length > MOST_THREADS
          ? new ThreadStacks(List.of(), "there are more than %d threads".formatted(MOST_THREADS))
          : of(
              Arrays.stream(threads).map(Thread::getName).toList(),
              DirectCalls.stackRanges(threads),
              mappings);
    } catch (SecurityException e) {
      return new ThreadStacks(List.of(), "a security manager hides the threads");
    }
  }

  private static Thread[] threads() {
    ThreadGroup root = Thread.currentThread().getThreadGroup();
    while (root.getParent() != null) {
      root = root.getParent();
    }
    Thread[] found = new Thread[root.activeCount() + MOST_NEW_THREADS];
    return Arrays.copyOf(found, root.enumerate(found, true));
  }

  static ThreadStacks of(List<String> names, Optional<long[]> ranges, List<Mapping> mappings) {
    Map<String, ThreadPool> pools = new HashMap<>();
    int unread = 0;
    for (int i = 0; i < names.size(); i++) {
      String name = NUMBER.matcher(names.get(i)).replaceAll("#");
      long end = ranges.isPresent() ? ranges.get()[2 * i + 1] : 0;
      double bytes = end == 0 ? Double.NaN : resident(mappings, ranges.orElseThrow()[2 * i], end);
      unread += end == 0 ? 1 : 0;
      pools.merge(
          name,
          new ThreadPool(name, 1, bytes),
          (one, other) ->
              new ThreadPool(name, one.threads() + 1, sum(one.stackBytes(), other.stackBytes())));
    }
    List<ThreadPool> largest = new ArrayList<>(pools.values());
    largest.sort(
        Comparator.comparingDouble((ThreadPool pool) -> -pool.stackBytes())
            .thenComparingInt(pool -> -pool.threads()));
    return new ThreadStacks(
        largest,
        ranges.isEmpty()
            ? "the library's functions or the JVM do not tell where stacks are"
            : unread > 0 ? "stacks that were not found and are not counted: " + unread : "");
  }

  private static double sum(double one, double other) {
    return Double.isNaN(one) ? other : one + (Double.isNaN(other) ? 0 : other);
  }

  /**
   * Returns the resident bytes of a range. A mapping that is partly in the range counts in
   * proportion.
   */
  private static double resident(List<Mapping> mappings, long start, long end) {
    double bytes = 0;
    for (int i = Pieces.firstAbove(start, mappings, 0);
        i < mappings.size() && mappings.get(i).start() < end;
        i++) {
      Mapping mapping = mappings.get(i);
      long within = Math.min(end, mapping.end()) - Math.max(start, mapping.start());
      bytes += (double) mapping.residentBytes() * within / mapping.bytes();
    }
    return bytes;
  }
}
