package io.mallometer.agent.command;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Computes the growth of named values, such as the live bytes of a call site, from two readings at
 * least a minute apart. Over a few seconds, the sampling error of an estimate would hide its
 * growth. Estimates from few samples need readings five minutes apart. Readings are stored for ten
 * minutes.
 */
final class GrowthRates {

  static final Duration SHORTEST = Duration.ofMinutes(1);

  /**
   * The shortest time between two readings of an estimate whose 95 % interval is wider than half of
   * its value, as with few samples.
   */
  static final Duration SHORTEST_OF_FEW_SAMPLES = Duration.ofMinutes(5);

  private static final Duration KEPT = Duration.ofMinutes(10);
  private static final double FEW = 0.5;

  private record Reading(Instant time, boolean complete, Map<String, Double> figures) {}

  private final Deque<Reading> readings = new ArrayDeque<>();

  /** Returns how long an estimate has to be observed before its growth is shown. */
  static Duration shortest(Json interval) {
    double value = interval.at("value").number();
    double width = interval.at("high").number() - interval.at("low").number();
    return width > FEW * Math.abs(value) ? SHORTEST_OF_FEW_SAMPLES : SHORTEST;
  }

  /**
   * Adds a reading if it is newer than the latest one. A value that is missing in {@code figures}
   * counts as 0 if the reading is complete, and as unknown otherwise.
   */
  void add(Instant time, boolean complete, Map<String, Double> figures) {
    if (!readings.isEmpty() && !time.isAfter(readings.getLast().time())) {
      return;
    }
    readings.add(new Reading(time, complete, new HashMap<>(figures)));
    while (readings.getFirst().time().isBefore(time.minus(KEPT))) {
      readings.removeFirst();
    }
  }

  /**
   * Returns the growth of a value per minute. Compares the latest reading with the newest reading
   * that is at least {@code shortest} older.
   *
   * @param shortest the least time between both readings
   * @return {@code NaN} if no reading is old enough, or if one of both readings lacks the value
   */
  double perMinute(String name, Duration shortest) {
    if (readings.isEmpty()) {
      return Double.NaN;
    }
    Reading latest = readings.getLast();
    for (Iterator<Reading> older = readings.descendingIterator(); older.hasNext(); ) {
      Reading reading = older.next();
      Duration between = Duration.between(reading.time(), latest.time());
      if (between.compareTo(shortest) >= 0) {
        return (figure(latest, name) - figure(reading, name)) * 60_000 / between.toMillis();
      }
    }
    return Double.NaN;
  }

  private static double figure(Reading reading, String name) {
    return reading.figures().getOrDefault(name, reading.complete() ? 0 : Double.NaN);
  }
}
