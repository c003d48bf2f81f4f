package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * The live bytes before the first of several runs and after each run. There is a series of the
 * total, and one for each name of a call site.
 *
 * <p>A leak is easier to find in the series of its site, because the total includes memory that
 * comes and goes.
 */
final class Series {

  /** The name that stands for all sites together. */
  static final String ALL = "";

  private final List<LiveReading> readings = new ArrayList<>();

  /** The live bytes of the whole process. */
  private final double[] process;

  private Series(LiveReading before, int iterations) {
    readings.add(before);
    process = new double[iterations + 1];
  }

  boolean processGrows(double allowed) {
    return Growth.of(process, allowed).found();
  }

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

  double[] kept() {
    return Growth.increments(readings.stream().mapToDouble(LiveReading::liveBytes).toArray());
  }

  int runs() {
    return readings.size() - 1;
  }

  LiveReading before() {
    return readings.get(0);
  }

  LiveReading after() {
    return readings.get(readings.size() - 1);
  }

  /**
   * Returns the growing sites by name, {@link #ALL} first.
   *
   * @param allowed the bytes that a run may keep
   * @param withoutFalls whether to ignore runs that reduced the live memory
   */
  Map<String, Growth> growing(double allowed, boolean withoutFalls) {
    Map<String, Growth> growing = new TreeMap<>();
    growing.put(ALL, growth(LiveReading::liveBytes, allowed, withoutFalls));
    for (String name : after().bytesByName().keySet()) {
      ToDoubleFunction<LiveReading> figure =
          reading -> reading.bytesByName().getOrDefault(name, 0.0);
      growing.put(name, growth(figure, allowed, withoutFalls));
    }
    growing.values().removeIf(growth -> !growth.found());
    return growing;
  }

  private Growth growth(
      ToDoubleFunction<LiveReading> figure, double allowed, boolean withoutFalls) {
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
