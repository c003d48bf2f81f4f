package io.mallometer.internal.gate;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The percentiles of a metric.
 *
 * <p>The noise band is 1.5 times the interquartile range, which is Tukey's fence for outliers
 * (Exploratory Data Analysis, 1977). It equals two standard deviations of normally distributed
 * samples. A few outliers do not widen the band: it is 0 if less than a quarter of the samples
 * differ.
 *
 * @param values the known percentiles; a file that a person edited may have only some
 */
public record Distribution(SortedMap<Percentile, Double> values) {

  private static final double FENCE = 1.5;

  public Distribution {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
  }

  /**
   * Takes each percentile of the samples by the nearest rank.
   *
   * @param samples at least one, each finite
   */
  static Distribution of(List<Double> samples) {
    List<Double> sorted = samples.stream().sorted().toList();
    Map<Percentile, Double> values = new EnumMap<>(Percentile.class);
    for (Percentile percentile : Percentile.values()) {
      values.put(percentile, Numbers.rounded(sorted.get(percentile.index(sorted.size()))));
    }
    return new Distribution(new TreeMap<>(values));
  }

  OptionalDouble at(Percentile percentile) {
    Double value = values.get(percentile);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  double noise() {
    Double low = values.get(Percentile.P25);
    Double high = values.get(Percentile.P75);
    return low == null || high == null ? 0 : FENCE * (high - low);
  }
}
