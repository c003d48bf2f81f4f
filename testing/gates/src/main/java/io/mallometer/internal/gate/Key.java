package io.mallometer.internal.gate;

import java.util.Comparator;

/**
 * The identity of a metric of one test.
 *
 * @param name the name of the test, of the benchmark with its parameters, or {@code process} for a
 *     whole process
 * @param metric the metric, such as {@code native.alloc.bytes}
 */
public record Key(String name, String metric) implements Comparable<Key> {

  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::name).thenComparing(Key::metric);

  @Override
  public int compareTo(Key other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return name + " " + metric;
  }
}
