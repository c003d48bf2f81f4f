package io.mallometer.internal.text;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses durations such as {@code 10m}, {@code 30s}, {@code 500ms} and {@code PT10M}. Refuses a
 * number without a unit, except 0, because some tools read it as seconds and others as
 * milliseconds.
 *
 * <p>Uses no regular expression, because loading the classes for one would delay each start of the
 * agent.
 */
public final class TimeSpan {

  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ns", ChronoUnit.NANOS,
          "us", ChronoUnit.MICROS,
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  private TimeSpan() {}

  /** Returns a duration; empty if the text has no number or no unit, or is negative. */
  public static Optional<Duration> parse(String text) {
    if (text.equals("0")) {
      return Optional.of(Duration.ZERO);
    }
    String number = text.startsWith("+") ? text.substring(1) : text;
    int digits = 0;
    while (digits < number.length()
        && number.charAt(digits) >= '0'
        && number.charAt(digits) <= '9') {
      digits++;
    }
    try {
      if (digits == 0) {
        Duration span = Duration.parse(text);
        return span.isNegative() ? Optional.empty() : Optional.of(span);
      }
      @Nullable ChronoUnit unit = UNITS.get(number.substring(digits).toLowerCase(Locale.ROOT));
      return unit == null
          ? Optional.empty()
          : Optional.of(Duration.of(Long.parseLong(number.substring(0, digits)), unit));
    } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
      return Optional.empty();
    }
  }
}
