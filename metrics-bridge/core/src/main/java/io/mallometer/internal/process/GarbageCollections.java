package io.mallometer.internal.process;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.List;
import java.util.stream.Stream;

/**
 * The garbage collections that the JVM has reported so far.
 *
 * @param all the number of collections that reclaimed garbage, young collections included
 * @param whole the number of collections of the whole heap
 * @param oldBytes the used bytes of the old generation; 0 for a heap without generations. A
 *     decrease shows that old garbage was reclaimed, also by a mixed collection, which G1 counts as
 *     a young one.
 */
public record GarbageCollections(long all, long whole, long oldBytes) {

  private static final class Beans {

    static final List<GarbageCollectorMXBean> COLLECTING =
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(bean -> reclaims(bean.getName()))
            .toList();
    static final List<GarbageCollectorMXBean> WHOLE =
        COLLECTING.stream().filter(bean -> isWhole(bean.getName())).toList();
    static final List<MemoryPoolMXBean> OLD =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP && isOld(pool.getName()))
            .toList();

    private Beans() {}
  }

  public static GarbageCollections ofThisJvm() {
    return new GarbageCollections(
        count(Beans.COLLECTING),
        count(Beans.WHOLE),
        Beans.OLD.stream().mapToLong(pool -> pool.getUsage().getUsed()).sum());
  }

  private static long count(List<GarbageCollectorMXBean> beans) {
    return beans.stream().mapToLong(bean -> Math.max(0, bean.getCollectionCount())).sum();
  }

  /**
   * Returns whether a bean counts a collection only after garbage was reclaimed. Beans for pauses,
   * and for G1's concurrent work, count earlier.
   */
  static boolean reclaims(String bean) {
    return !bean.endsWith(" Pauses") && !bean.equals("G1 Concurrent GC");
  }

  static boolean isWhole(String bean) {
    return Stream.of(
            "G1 Old Generation",
            "PS MarkSweep",
            "MarkSweepCompact",
            "ZGC Cycles",
            "ZGC Major Cycles",
            "Shenandoah Cycles")
        .anyMatch(bean::equals);
  }

  static boolean isOld(String pool) {
    return pool.endsWith("Old Gen")
        || pool.endsWith("Old Generation")
        || pool.equals("Tenured Gen");
  }
}
