package io.mallometer.internal.process;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;

/** The Java heap of this JVM, by the platform's beans. */
public final class JavaHeap {

  private JavaHeap() {}

  /** Returns the used bytes, and the bytes that the JVM has from the system. */
  public static MemoryUsage usage() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
  }

  /**
   * Returns whether a walk over the heap marks objects that it finds, so that it sees no garbage.
   */
  public static boolean walksMark() {
    Collector collector = Collector.ofThisJvm();
    return collector == Collector.Z || collector == Collector.SHENANDOAH;
  }
}
