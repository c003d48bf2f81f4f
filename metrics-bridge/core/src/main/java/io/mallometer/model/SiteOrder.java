package io.mallometer.model;

import java.util.Comparator;
import java.util.function.ToDoubleFunction;

/** A figure by which call sites are sorted: the largest first, unknown figures last. */
public enum SiteOrder {
  /** Live bytes. */
  LIVE("live", figures -> figures.liveBytes().value()),
  /** Live objects. */
  LIVE_OBJECTS("live-objects", figures -> figures.liveObjects().value()),
  /** Bytes allocated since counting began. */
  ALLOCATED("allocated", figures -> figures.allocatedBytes().value()),
  /** Objects allocated since counting began. */
  ALLOCATED_OBJECTS("allocated-objects", figures -> figures.allocatedObjects().value()),
  /** Bytes allocated per second in the last minutes. */
  RATE("rate", SiteFigures::bytesPerSecond),
  /** Live bytes on pages that are in memory. */
  RESIDENT("resident", figures -> figures.residentBytes().value());

  private final String id;
  private final ToDoubleFunction<SiteFigures> figure;

  SiteOrder(String id, ToDoubleFunction<SiteFigures> figure) {
    this.id = id;
    this.figure = figure;
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /** Returns a comparator that puts the largest figure first and {@code NaN} last. */
  public Comparator<SiteFigures> comparator() {
    return Comparator.comparingDouble(
        figures -> {
          double value = figure.applyAsDouble(figures);
          return Double.isNaN(value) ? Double.POSITIVE_INFINITY : -value;
        });
  }
}
