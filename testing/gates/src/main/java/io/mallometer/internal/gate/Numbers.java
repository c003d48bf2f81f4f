package io.mallometer.internal.gate;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Formats numbers for files and reports. Whole numbers stay exact; others are rounded, so that
 * meaningless digits do not change files.
 */
final class Numbers {

  private static final int DECIMALS = 3;
  private static final MathContext SMALL = new MathContext(DECIMALS, RoundingMode.HALF_EVEN);

  private Numbers() {}

  /**
   * Rounds a number between -1 and 1 to three significant digits, and other numbers to three
   * decimals.
   */
  static double rounded(double number) {
    BigDecimal exact = BigDecimal.valueOf(number);
    return Math.abs(number) < 1
        ? exact.round(SMALL).doubleValue()
        : exact.setScale(DECIMALS, RoundingMode.HALF_EVEN).doubleValue();
  }

  /** Returns the rounded number without an exponent and without zeros at the end. */
  static String text(double number) {
    BigDecimal rounded = BigDecimal.valueOf(rounded(number)).stripTrailingZeros();
    return rounded.signum() == 0 ? "0" : rounded.toPlainString();
  }

  static BigDecimal written(double number) {
    return new BigDecimal(text(number));
  }

  /** Returns a share as a percentage with at most one decimal, such as {@code 22.1 %}. */
  static String percent(double share) {
    return BigDecimal.valueOf(share)
            .movePointRight(2)
            .setScale(1, RoundingMode.HALF_EVEN)
            .stripTrailingZeros()
            .toPlainString()
        + " %";
  }
}
