package io.mallometer.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** Numbers objects in the order of their first occurrence. Equal objects have the same number. */
final class Numbering<T> {

  private final Map<T, Integer> numbers = new LinkedHashMap<>();
  private final int first;

  Numbering(int first) {
    this.first = first;
  }

  int of(T thing) {
    return numbers.computeIfAbsent(thing, unseen -> first + numbers.size());
  }

  Set<T> all() {
    return numbers.keySet();
  }
}
