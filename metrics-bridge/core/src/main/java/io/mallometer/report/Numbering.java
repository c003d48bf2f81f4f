package io.mallometer.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Numbers equal things alike, in the order in which they are first seen. */
final class Numbering<T> {

  private final Map<T, Integer> numbers = new LinkedHashMap<>();
  private final int first;

  /** The first thing gets the number {@code first}. */
  Numbering(int first) {
    this.first = first;
  }

  int of(T thing) {
    return numbers.computeIfAbsent(thing, unseen -> first + numbers.size());
  }

  /** All that were numbered, in order. */
  Set<T> all() {
    return numbers.keySet();
  }
}
