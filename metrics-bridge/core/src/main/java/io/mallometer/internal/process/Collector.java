package io.mallometer.internal.process;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;

/**
 * Garbage collectors, and how large the tables are that they keep for a heap and that have no shape
 * to be recognised by: when all of the heap is committed, they are plain anonymous memory.
 *
 * <p>A mark bitmap has one bit for 8 bytes of the heap, 1/64; a card or offset table one byte for
 * 512, 1/512. From HotSpot's sources, the larger of JDK 17 and 25.
 */
enum Collector {
  /** Two bitmaps; cards, card counts, block offsets, regions. */
  G1(2, 4),
  /** Two bitmaps in one; cards, block offsets, data of regions. */
  PARALLEL(2, 4),
  /** One bitmap of two bits; cards when generational, the collection set. */
  SHENANDOAH(2, 4),
  /** Cards and block offsets. */
  SERIAL(0, 2),
  /** Its tables are parts of reservations. */
  Z(0, 0),
  /** As much as any. */
  OTHER(2, 4);

  /** Whatever does not grow with the heap. */
  private static final long FIXED = 4L << 20;

  /** Found once: a look at the beans takes longer than all that is asked of it. */
  private static final class OfThisJvm {

    static final Collector FOUND = find();

    private OfThisJvm() {}
  }

  private final int bitmaps;
  private final int tables;

  Collector(int bitmaps, int tables) {
    this.bitmaps = bitmaps;
    this.tables = tables;
  }

  /** What such structures may take for a heap, in bytes. */
  long largestStructures(long heapBytes) {
    return heapBytes / 64 * bitmaps + heapBytes / 512 * tables + FIXED;
  }

  /** The collector of this JVM. */
  static Collector ofThisJvm() {
    return OfThisJvm.FOUND;
  }

  private static Collector find() {
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      Collector collector = named(bean.getName());
      if (collector != OTHER) {
        return collector;
      }
    }
    return OTHER;
  }

  /** By the name of one of its beans. */
  static Collector named(String bean) {
    if (bean.startsWith("G1 ")) {
      return G1;
    }
    if (bean.startsWith("PS ")) {
      return PARALLEL;
    }
    if (bean.startsWith("Shenandoah ")) {
      return SHENANDOAH;
    }
    if (bean.startsWith("ZGC ")) {
      return Z;
    }
    return bean.equals("Copy") || bean.equals("MarkSweepCompact") ? SERIAL : OTHER;
  }
}
