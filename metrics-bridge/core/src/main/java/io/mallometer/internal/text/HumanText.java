package io.mallometer.internal.text;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Writes bytes, durations, times, shares and names as text for people. */
public final class HumanText {

  private static final double WIDEST = 4;

  /** Up to this number, a {@code double} represents every whole number. */
  private static final double LARGEST_WHOLE = 1L << 53;

  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  /** Formats of times. Creating them takes 10 ms, so they are created at the first use. */
  private static final class Times {
    static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    static final DateTimeFormatter DATE =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private Times() {}
  }

  /**
   * The tolerance for the rounding error of a share, in percent: 0.29 times 100 is slightly less
   * than 29.
   */
  private static final double SLACK = 1e-9;

  private HumanText() {}

  /** Returns a size, such as {@code 1.9 GiB}; a dash if it is unknown. */
  public static String bytes(double bytes) {
    return bytes(bytes, 99.95);
  }

  /** Returns a size with a decimal only if the number is below 10, such as {@code 19 GiB}. */
  public static String roundedBytes(double bytes) {
    return bytes(bytes, 9.95);
  }

  private static String bytes(double bytes, double leastWhole) {
    if (Double.isNaN(bytes)) {
      return "-";
    }
    double value = Math.abs(bytes);
    int unit = 0;
    while (value >= 999.5 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    long tenths = Math.round(value * 10);
    String number =
        unit == 0 || value >= leastWhole ? whole(value) : tenths / 10 + "." + tenths % 10;
    return (bytes < 0 ? "-" : "") + number + " " + UNITS[unit];
  }

  /**
   * Returns a 95 % interval, such as {@code 12.0 MiB to 31.0 MiB}. Returns "too few samples" if the
   * upper end exceeds {@value #WIDEST} times the estimate, as it does with fewer than about three
   * samples.
   */
  public static String interval(double estimate, double low, double high) {
    return high > WIDEST * estimate ? "too few samples" : bytes(low) + " to " + bytes(high);
  }

  /** Returns a size with a sign; a dash if it is unknown. */
  public static String change(double bytes) {
    return Double.isNaN(bytes) ? "-" : (bytes >= 0 ? "+" : "") + bytes(bytes);
  }

  public static String number(double number) {
    return Double.isNaN(number) ? "-" : whole(number);
  }

  /** Returns a share, such as {@code 99 %}. Rounds down, so that 100 % means all. */
  public static String share(double share) {
    return Double.isNaN(share) ? "-" : whole(Math.floor(share * 100 + SLACK)) + " %";
  }

  /** Returns an interval of shares, such as {@code 72 to 100 %}. Rounds outwards. */
  public static String shares(double low, double high) {
    return whole(Math.floor(low * 100 + SLACK))
        + " to "
        + whole(Math.ceil(high * 100 - SLACK))
        + " %";
  }

  /**
   * Rounds half up. Avoids the JDK's formatter for usual numbers, because its first use takes 20
   * ms.
   */
  private static String whole(double number) {
    return number >= 0 && number < LARGEST_WHOLE
        ? Long.toString(Math.round(number))
        : String.format(Locale.ROOT, "%.0f", number);
  }

  /** Returns a duration, such as {@code 2 h 5 min}, {@code 40 min} or {@code 12 s}. */
  public static String duration(Duration duration) {
    long seconds = Math.round(duration.toMillis() / 1000.0);
    if (seconds < 120) {
      return seconds + " s";
    }
    long minutes = Math.round(seconds / 60.0);
    if (minutes < 120) {
      return minutes + " min";
    }
    long hours = minutes / 60;
    return hours < 48
        ? hours + " h " + minutes % 60 + " min"
        : hours / 24 + " d " + hours % 24 + " h";
  }

  /** Returns a predicted duration, rounded to few digits, such as {@code about 7 h}. */
  public static String roughly(Duration duration) {
    long minutes = Math.round(duration.toSeconds() / 60.0);
    if (minutes < 2) {
      return "about a minute";
    }
    if (minutes < 120) {
      return "about " + minutes + " min";
    }
    long hours = Math.round(minutes / 60.0);
    return hours < 48 ? "about " + hours + " h" : "about " + Math.round(hours / 24.0) + " days";
  }

  public static String time(Instant instant) {
    return Times.TIME.format(instant);
  }

  /** Returns the time of day to the minute, such as {@code 13:09 UTC}. */
  public static String minute(Instant instant) {
    long minutes = Math.floorMod(Math.floorDiv(instant.getEpochSecond(), 60L), 1440L);
    return twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60) + " UTC";
  }

  private static String twoDigits(long value) {
    return (value < 10 ? "0" : "") + value;
  }

  public static String date(Instant instant) {
    return Times.DATE.format(instant);
  }

  /** Returns {@code C.method} for {@code a.b.C.method}, and a native name as it is. */
  public static String shortName(String name) {
    int method = name.lastIndexOf('.');
    if (name.contains("!") || name.contains(".so") || method < 0) {
      return name;
    }
    int words = name.lastIndexOf(' ', method) + 1;
    int owner = Math.max(words, name.lastIndexOf('.', method - 1) + 1);
    return name.substring(0, words) + name.substring(owner);
  }

  /** Returns {@code Store.keep (Store.java:48)} for {@code com.acme.Store.keep(Store.java:48)}. */
  public static String shortLine(String line) {
    int place = line.indexOf('(');
    return place < 0
        ? shortName(line)
        : shortName(line.substring(0, place)) + " " + line.substring(place);
  }
}
