package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Runs of a test in a row: what was live before the first and after each, in all and by the names
 * of call sites. Where something else comes and goes meanwhile, only the site that leaks rises
 * steadily.
 */
final class Series {

  /** The name of all sites together. */
  static final String ALL = "";

  private final List<Reading> readings = new ArrayList<>();

  /** What is live of the whole process. */
  private final double[] process;

  private Series(Reading before, int iterations) {
    readings.add(before);
    process = new double[iterations + 1];
  }

  /** Whether the process as a whole grows. */
  boolean processGrows(double allowed) {
    return Growth.of(process, allowed).found();
  }

  /** Runs a test so often, and collects garbage after each run if that is wanted. */
  static Series of(Watch watch, Body body, int iterations, boolean collecting) throws Throwable {
    Series series = new Series(watch.read(), iterations);
    series.process[0] = watch.processBytes();
    for (int i = 0; i < iterations; i++) {
      body.run();
      if (collecting) {
        watch.collectGarbage();
      }
      series.readings.add(watch.read());
      series.process[i + 1] = watch.processBytes();
    }
    return series;
  }

  /** Returns what each run kept, in bytes. */
  double[] kept() {
    return Growth.increments(readings.stream().mapToDouble(Reading::liveBytes).toArray());
  }

  int runs() {
    return readings.size() - 1;
  }

  Reading before() {
    return readings.get(0);
  }

  Reading after() {
    return readings.get(readings.size() - 1);
  }

  /**
   * Returns what grows by more than is allowed, by the name of the sites, {@link #ALL} first.
   *
   * @param withoutFalls whether runs after which less is live are left out, as if there had been no
   *     garbage collection in them
   */
  Map<String, Growth> growing(double allowed, boolean withoutFalls) {
    Map<String, Growth> growing = new TreeMap<>();
    growing.put(ALL, growth(Reading::liveBytes, allowed, withoutFalls));
    for (String name : after().bytesByName().keySet()) {
      ToDoubleFunction<Reading> figure = reading -> reading.bytesByName().getOrDefault(name, 0.0);
      growing.put(name, growth(figure, allowed, withoutFalls));
    }
    growing.values().removeIf(growth -> !growth.found());
    return growing;
  }

  private Growth growth(ToDoubleFunction<Reading> figure, double allowed, boolean withoutFalls) {
    List<Double> live = new ArrayList<>();
    double sum = figure.applyAsDouble(before());
    live.add(sum);
    for (int i = 1; i < readings.size(); i++) {
      double kept =
          figure.applyAsDouble(readings.get(i)) - figure.applyAsDouble(readings.get(i - 1));
      if (kept >= 0 || !withoutFalls) {
        sum += kept;
        live.add(sum);
      }
    }
    return Growth.of(live.stream().mapToDouble(Double::doubleValue).toArray(), allowed);
  }
}
