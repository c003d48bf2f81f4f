package io.mallometer.internal.process;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * The garbage collectors of HotSpot, each with its number of mark bitmaps and its number of other
 * tables. The largest size of the bitmaps and tables follows from these numbers. Anonymous memory
 * of unknown kind is attributed to the collector only up to that size.
 *
 * <p>A mark bitmap has one bit for 8 bytes of the heap, so it takes 1/64 of the heap. Another table
 * has one byte for 512 bytes. The numbers are from HotSpot's sources: the larger of JDK 17 and 25.
 */
public enum Collector {
  /** G1 has two bitmaps, and tables of cards, card counts, block offsets and regions. */
  G1(2, 4),
  /** Parallel has two bitmaps in one structure, and tables of cards, block offsets and regions. */
  PARALLEL(2, 4),
  /**
   * Shenandoah has a bitmap with two bits for each 8 bytes, cards if it is generational, and the
   * collection set.
   */
  SHENANDOAH(2, 4),
  SERIAL(0, 2),
  /**
   * ZGC's tables are not counted here: {@link MappingKinds} recognises them, because they lie in
   * reserved address ranges.
   */
  Z(0, 0),
  /** An unknown collector; its numbers are the largest of the known collectors. */
  OTHER(2, 4);

  /** The bytes of structures that do not grow with the heap. */
  private static final long FIXED = 4L << 20;

  /** Holds the collector of this JVM. It is looked up once, because the search takes long. */
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

  long largestStructures(long heapBytes) {
    return heapBytes / 64 * bitmaps + heapBytes / 512 * tables + FIXED;
  }

  /**
   * Returns the option or the {@code jcmd} command that makes the collector collect the old
   * generation each minute; empty if there is none.
   */
  public Optional<String> collectsPeriodically(long pid) {
    return switch (this) {
      case G1 -> Optional.of("jcmd %d VM.set_flag G1PeriodicGCInterval 60000".formatted(pid));
      case Z -> Optional.of("-XX:ZCollectionInterval=60");
      default -> Optional.empty();
    };
  }

  public static Collector ofThisJvm() {
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
