package io.mallometer.internal.process;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;

/** The Java heap of this JVM, as its own beans tell it. */
public final class JavaHeap {

  private JavaHeap() {}

  /** Returns how much is used, and how much the JVM has of the system. */
  public static MemoryUsage usage() {
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
  }

  /** Whether a walk over the heap marks what it finds, so that it sees no garbage. */
  public static boolean walksMark() {
    Collector collector = Collector.ofThisJvm();
    return collector == Collector.Z || collector == Collector.SHENANDOAH;
  }
}
