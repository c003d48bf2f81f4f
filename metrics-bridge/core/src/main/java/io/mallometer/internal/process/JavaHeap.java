package io.mallometer.internal.process;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;

/** Reads the sizes of this JVM's heap from the platform's MBeans. */
public final class JavaHeap {

  private JavaHeap() {}

  public static MemoryUsage usage() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
  }

  /**
   * Returns whether a walk over the heap visits only reachable objects, and so never finds garbage.
   */
  public static boolean walksMark() {
    Collector collector = Collector.ofThisJvm();
    return collector == Collector.Z || collector == Collector.SHENANDOAH;
  }
}
