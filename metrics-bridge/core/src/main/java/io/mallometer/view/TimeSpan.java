package io.mallometer.view;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parser for durations in the forms {@code 10m}, {@code 30s}, {@code 500ms}, PT10M. Without a unit
 * only {@code 0} is one: some tools take a bare number for seconds, others for milliseconds.
 */
public final class TimeSpan {

  private static final Pattern SIMPLE = Pattern.compile("\\+?(\\d+)([a-zA-Z]{1,2})");

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

  /** Reads a duration; empty if the text is none, has no unit, or is negative. */
  public static Optional<Duration> parse(String text) {
    if (text.equals("0")) {
      return Optional.of(Duration.ZERO);
    }
    Matcher simple = SIMPLE.matcher(text);
    try {
      Optional<Duration> span =
          simple.matches()
              ? Optional.ofNullable(UNITS.get(simple.group(2).toLowerCase(Locale.ROOT)))
                  .map(unit -> Duration.of(Long.parseLong(simple.group(1)), unit))
              : Optional.of(Duration.parse(text));
      return span.filter(known -> !known.isNegative());
    } catch (DateTimeException | ArithmeticException | NumberFormatException e) {
      return Optional.empty();
    }
  }
}
