package io.mallometer.internal.pool;

import java.util.List;

/** Chooses the line of a stack that stands for an allocation. */
@FunctionalInterface
interface SiteLines {

  /**
   * Returns the class, method and line.
   *
   * @param stack innermost first; not empty
   */
  String lineOf(List<StackTraceElement> stack);
}
