package io.mallometer.benchmarks.owner;

import io.mallometer.model.OwnerReport.Holding;
import java.util.List;

/**
 * A piece of a program that keeps native memory in a known way. It allocates at least 100 blocks of
 * 8 KiB or more, all in {@link #plant}, from its own class or below, so that its stack identifies
 * its call site.
 */
public interface Kernel {

  /** Returns the right kind of holding for the first of the search's ways. */
  Holding holding();

  /**
   * Returns words that the first way must have, in the holder or in a path, such as {@code static
   * ReportCache.open}; none if the memory has no holder.
   */
  List<String> words();

  /**
   * Allocates. Reachable memory is in a static field, a thread, or another owner of the kernel,
   * since the kernel itself is not kept.
   *
   * @throws Exception if this JVM lacks a feature: then the kernel is left out
   */
  void plant() throws Exception;
}
