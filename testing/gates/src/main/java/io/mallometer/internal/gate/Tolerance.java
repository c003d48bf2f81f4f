package io.mallometer.internal.gate;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The allowed difference from the expected figure, and the percentiles to judge. The larger of
 * {@code relative} and {@code absolute} is allowed, so that small figures do not fail for a few
 * bytes.
 *
 * @param relative a share of the expected figure: 0.05 is 5 %
 * @param absolute an amount in the unit of the metric
 * @param percentiles the percentiles to judge
 */
public record Tolerance(double relative, double absolute, Set<Percentile> percentiles) {

  private static final Set<Percentile> QUARTILES =
      EnumSet.of(Percentile.P25, Percentile.P50, Percentile.P75);

  /**
   * The absolute allowance of the presets, in bytes or calls. It is less than 1, so whole numbers
   * must be equal. It is more than the 0.5 byte by which the JVM's own allocations change an
   * average over many operations.
   */
  private static final double FRACTION = 0.99;

  public enum Preset {
    /** Allows no difference at any percentile, for counts that are equal in each run. */
    STRICT(new Tolerance(0, 0, EnumSet.allOf(Percentile.class))),
    DEFAULT(new Tolerance(0.05, FRACTION, QUARTILES)),
    RELAXED(new Tolerance(0.25, FRACTION, QUARTILES));

    private final Tolerance tolerance;

    Preset(Tolerance tolerance) {
      this.tolerance = tolerance;
    }

    public Tolerance tolerance() {
      return tolerance;
    }

    public String id() {
      return name().toLowerCase(Locale.ROOT);
    }

    public static Preset of(String id) {
      return OptionByName.of("preset", id, values(), Preset::id);
    }
  }

  public Tolerance {
    if (!(relative >= 0 && absolute >= 0)
        || !Double.isFinite(relative)
        || !Double.isFinite(absolute)) {
      throw new IllegalArgumentException("a tolerance must be a number from 0");
    }
    if (percentiles.isEmpty()) {
      throw new IllegalArgumentException("a tolerance needs at least one percentile");
    }
    percentiles = Collections.unmodifiableSet(EnumSet.copyOf(percentiles));
  }

  /**
   * Returns a preset with some parts replaced.
   *
   * @param preset the preset's name
   * @param relative a share, see {@link #share}; null to keep the preset's
   * @param absolute an amount, see {@link #amount}; null to keep the preset's
   * @param percentiles names of percentiles; empty to keep the preset's
   * @throws IllegalArgumentException if an argument is not understood
   */
  public static Tolerance of(
      String preset,
      @Nullable String relative,
      @Nullable String absolute,
      List<String> percentiles) {
    Tolerance base = Preset.of(preset).tolerance();
    return new Tolerance(
        relative == null ? base.relative : share(relative),
        absolute == null ? base.absolute : amount(absolute),
        percentiles.isEmpty() ? base.percentiles : percentiles(percentiles));
  }

  static Set<Percentile> percentiles(List<String> names) {
    Set<Percentile> percentiles = EnumSet.noneOf(Percentile.class);
    names.forEach(name -> percentiles.add(Percentile.of(name)));
    return percentiles;
  }

  /** Returns the allowed difference from an expected figure, in the unit of the metric. */
  double of(double expected) {
    return Math.max(relative * Math.abs(expected), absolute);
  }

  /**
   * Reads a share such as {@code 5%} or {@code 0.05}.
   *
   * @throws IllegalArgumentException if the text is not a share
   */
  static double share(String text) {
    String number = text.strip();
    return number.endsWith("%")
        ? number(text, number.substring(0, number.length() - 1)) / 100
        : number(text, number);
  }

  /**
   * Reads an amount such as {@code 100}, {@code 4KiB} or {@code 1.5 MiB}.
   *
   * @throws IllegalArgumentException if the text is not an amount
   */
  static double amount(String text) {
    String number = text.strip();
    double factor = 1;
    for (String unit : new String[] {"KiB", "MiB", "GiB"}) {
      factor *= 1024;
      if (number.endsWith(unit)) {
        return factor * number(text, number.substring(0, number.length() - unit.length()));
      }
    }
    return number(text, number);
  }

  private static double number(String whole, String part) {
    try {
      double number = Double.parseDouble(part.strip());
      if (number >= 0 && Double.isFinite(number)) {
        return number;
      }
    } catch (NumberFormatException e) {
    }
    throw new IllegalArgumentException(
        whole + " is not a tolerance; write for instance 5% or 0.05, 100 or 4KiB");
  }
}
