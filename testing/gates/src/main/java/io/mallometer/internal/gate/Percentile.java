package io.mallometer.internal.gate;

import java.util.Locale;

/** The percentiles at which two runs are compared, in ascending order. */
public enum Percentile {
  P0(0),
  P25(25),
  P50(50),
  P75(75),
  P90(90),
  P99(99),
  P100(100);

  private static final double WHOLE = 100;

  private final int percent;

  Percentile(int percent) {
    this.percent = percent;
  }

  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Percentile of(String id) {
    return OptionByName.of("percentile", id, values(), Percentile::id);
  }

  /** Returns the index in sorted samples, by the nearest rank. */
  int index(int samples) {
    return Math.max(0, (int) Math.ceil(percent / WHOLE * samples) - 1);
  }
}
