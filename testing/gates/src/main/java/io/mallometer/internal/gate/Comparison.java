package io.mallometer.internal.gate;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares measured figures with expected ones.
 *
 * <p>A figure is worse if it exceeds the expected one by more than the tolerance and by more than
 * the noise band. The noise band is computed from the expected samples only. Otherwise a change
 * that widens the spread would also widen the band, and could pass.
 *
 * @param figures every compared percentile of every metric, sorted by name, metric and percentile
 * @param problems the metrics that could not be compared, with the reasons
 * @param added the measured metrics that have no expected figures
 */
public record Comparison(List<Figure> figures, List<Problem> problems, SortedSet<Key> added) {

  /**
   * The prefix of the units in which a larger figure is better. In all other units a smaller figure
   * is better.
   */
  private static final String RATE = "ops/";

  /**
   * The comparison of a metric at one percentile.
   *
   * @param tolerance the allowed difference
   * @param noise the noise band of the expected samples
   */
  public record Figure(
      Key key,
      String unit,
      Percentile percentile,
      double expected,
      double measured,
      double tolerance,
      double noise,
      FigureChange verdict) {}

  /**
   * A metric that could not be compared.
   *
   * @param key the metric
   * @param reason a sentence without its full stop
   */
  public record Problem(Key key, String reason) {}

  public Comparison {
    figures = List.copyOf(figures);
    problems = List.copyOf(problems);
  }

  /**
   * Compares results with expected figures.
   *
   * @param tolerance the tolerance for metrics that have none of their own
   */
  public static Comparison of(
      SortedMap<Key, Expected> expected, Results results, Tolerance tolerance) {
    SortedMap<Key, Expected> measured = results.expected();
    List<Figure> figures = new ArrayList<>();
    List<Problem> problems = new ArrayList<>();
    expected.forEach(
        (key, reference) -> {
          Expected found = measured.get(key);
          if (found == null) {
            problems.add(new Problem(key, "it was expected and not measured"));
          } else if (!found.unit().equals(reference.unit())) {
            problems.add(
                new Problem(
                    key,
                    "it is expected in %s and was measured in %s"
                        .formatted(reference.unit(), found.unit())));
          } else {
            int before = figures.size();
            judge(key, reference, found, reference.tolerance().orElse(tolerance), figures);
            if (figures.size() == before) {
              problems.add(new Problem(key, "none of its percentiles is judged"));
            }
          }
        });
    SortedSet<Key> added = new TreeSet<>(measured.keySet());
    added.removeAll(expected.keySet());
    return new Comparison(figures, problems, added);
  }

  private static void judge(
      Key key, Expected reference, Expected found, Tolerance tolerance, List<Figure> to) {
    double noise = reference.distribution().noise();
    for (Percentile percentile : Percentile.values()) {
      OptionalDouble before = reference.distribution().at(percentile);
      OptionalDouble after = found.distribution().at(percentile);
      if (tolerance.percentiles().contains(percentile) && before.isPresent() && after.isPresent()) {
        double expected = before.getAsDouble();
        double measured = after.getAsDouble();
        double allowed = tolerance.of(expected);
        to.add(
            new Figure(
                key,
                reference.unit(),
                percentile,
                expected,
                measured,
                allowed,
                noise,
                verdict(reference.unit(), measured - expected, allowed, noise)));
      }
    }
  }

  private static FigureChange verdict(String unit, double change, double allowed, double noise) {
    double more = unit.startsWith(RATE) ? -change : change;
    if (Math.abs(more) <= allowed) {
      return FigureChange.EQUAL;
    }
    if (more > 0) {
      return more <= noise ? FigureChange.NOISE : FigureChange.WORSE;
    }
    return -more <= noise ? FigureChange.EQUAL : FigureChange.BETTER;
  }

  public long count(FigureChange verdict) {
    return figures.stream().filter(figure -> figure.verdict() == verdict).count();
  }

  SortedMap<Key, List<Figure>> byMetric() {
    SortedMap<Key, List<Figure>> metrics = new TreeMap<>();
    for (Figure figure : figures) {
      metrics.computeIfAbsent(figure.key(), key -> new ArrayList<>()).add(figure);
    }
    return metrics;
  }

  /** Returns the result as a whole. A comparison without figures counts as not measured. */
  public Outcome outcome() {
    if (count(FigureChange.WORSE) > 0) {
      return Outcome.WORSE;
    }
    if (!problems.isEmpty() || figures.isEmpty()) {
      return Outcome.NOT_MEASURED;
    }
    return count(FigureChange.BETTER) > 0 ? Outcome.BETTER : Outcome.EQUAL;
  }
}
