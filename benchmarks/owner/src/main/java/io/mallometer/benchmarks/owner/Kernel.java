package io.mallometer.benchmarks.owner;

import io.mallometer.model.OwnerReport.Holding;
import java.util.List;

/**
 * A piece of a program that keeps native memory in a way that is known. It allocates at least 100
 * blocks of 8 KiB and more, all in {@link #plant}, from code of its own class or below it, so that
 * its call site is known by its stack.
 */
public interface Kernel {

  /** How the search is to say that the memory is held, in the first of its ways. */
  Holding holding();

  /**
   * Returns words that the first way must have, in the holder or in a path, such as {@code static
   * ReportCache.open}; none where nobody holds it.
   */
  List<String> words();

  /**
   * Allocates. Whatever is to stay reachable is in a static field, or a thread, or wherever the
   * kernel has its owner; the kernel itself is not kept.
   *
   * @throws Exception if this JVM lacks something: then the kernel is left out
   */
  void plant() throws Exception;
}
