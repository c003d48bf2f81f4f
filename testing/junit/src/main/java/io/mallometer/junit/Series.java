package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Successive runs of a test: the live bytes before the first run and after each, in total and by
 * the name of the call sites. Other memory that comes and goes affects the total, but only a
 * leaking site rises steadily.
 */
final class Series {

  /** The name for the total of all sites. */
  static final String ALL = "";

  private final List<LiveReading> readings = new ArrayList<>();

  /** The live bytes of the whole process. */
  private final double[] process;

  private Series(LiveReading before, int iterations) {
    readings.add(before);
    process = new double[iterations + 1];
  }

  /** Returns whether the memory of the whole process grows by more than the allowed bytes a run. */
  boolean processGrows(double allowed) {
    return Growth.of(process, allowed).found();
  }

  /** Runs a test several times, with a garbage collection after each run if wanted. */
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

  /** Returns the bytes that each run kept. */
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
   * Returns the growth above the allowed bytes by the name of the sites, {@link #ALL} first.
   *
   * @param withoutFalls whether to leave out runs after which less was live, as after a garbage
   *     collection
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
