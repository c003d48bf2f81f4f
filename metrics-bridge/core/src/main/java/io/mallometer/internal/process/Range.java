package io.mallometer.internal.process;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A range of addresses.
 *
 * @param start first address
 * @param end address after the last
 */
record Range(long start, long end) {

  /** Returns whether a mapping begins in this range. */
  boolean contains(Mapping mapping) {
    return start <= mapping.start() && mapping.start() < end;
  }

  /** Returns the same addresses as ascending ranges without overlaps. */
  static List<Range> withoutOverlaps(List<Range> ranges) {
    List<Range> ascending = new ArrayList<>(ranges);
    ascending.sort(Comparator.comparingLong(Range::start));
    List<Range> merged = new ArrayList<>(ranges.size());
    for (Range range : ascending) {
      Range last = merged.isEmpty() ? range : merged.remove(merged.size() - 1);
      if (range.start() < last.end()) {
        merged.add(new Range(last.start(), Math.max(last.end(), range.end())));
      } else {
        merged.add(last);
        merged.add(range);
      }
    }
    return merged;
  }
}
