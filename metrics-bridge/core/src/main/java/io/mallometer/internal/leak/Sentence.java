package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.symbol.JavaNames;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.SiteVerdict.Growth;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Describes a verdict in one sentence. */
public final class Sentence {

  private static final double MINUTE = 60;
  private static final double HOUR = 3_600;
  private static final long DAY = 86_400;

  private Sentence() {}

  /**
   * Returns a sentence such as {@code Deflater.init from ReportService.render keeps 1.3 GiB in
   * 41,000 objects that were not accessed for 12 min or more; +3.2 MiB/min}.
   *
   * @param begun the allocation time of the oldest live object; null if growth has not stopped, or
   *     if a live object was allocated after growth stopped
   */
  static String of(
      Verdict verdict,
      String siteText,
      Assessment shown,
      Growth growth,
      @Nullable Instant begun,
      boolean seen,
      IdleLimits times) {
    String holds = siteText + " holds " + bytes(growth.liveBytes());
    return switch (verdict) {
      case LEAK -> leakText(siteText, shown, growth, times) + growing(growth);
      case UNUSED ->
          begun != null && shown.idle().untouched()
              ? holds + allocated(growth, begun) + unused(shown) + noLeak(shown.noLeakReason())
              : holds + unused(shown) + growing(growth) + noLeak(shown.noLeakReason());
      case WAITS_FOR_GC -> holds;
      case POOL -> siteText + keeps(shown) + noLeak(shown.noLeakReason());
      case GROWING -> holds + use(shown, seen) + growing(shown.increase(), growth);
      case HEALTHY -> holds + "; nothing points to a leak";
    };
  }

  private static String leakText(
      String siteText, Assessment shown, Growth growth, IdleLimits times) {
    LostObjects lost = shown.lost();
    KnownLeak known = shown.known();
    String holds = siteText + " holds " + bytes(growth.liveBytes());
    if (lost == null) {
      return known == null
          ? siteText + keeps(shown) + outlasted(shown, times)
          : holds + knownLeakText(known) + unused(shown);
    }
    return holds
        + ": no address of "
        + lost.lost()
        + " of "
        + lost.searched()
        + " sampled objects exists in the process, so no code can use or free them";
  }

  private static String knownLeakText(KnownLeak known) {
    return ": the same stack was a leak in an earlier run (since "
        + HumanText.date(known.time())
        + ", "
        + known.evidence().tag()
        + "), and is unused again";
  }

  private static String outlasted(Assessment shown, IdleLimits times) {
    String oldest = "; the longest for " + atLeast(shown.idle().longestSeconds());
    return times.longestTimeoutSeconds() > 0
        ? oldest
            + ", beyond any timeout of this program ("
            + time(times.longestTimeoutSeconds())
            + ")"
        : oldest;
  }

  /**
   * Describes the idle times of unused memory. If no object was used after its initialization, the
   * text adds a limit that follows from the idle times, such as {@code random use more often than
   * every 2 h is excluded}.
   */
  private static String unused(Assessment shown) {
    String longest = atLeast(shown.idle().longestSeconds());
    return ": "
        + shown.idle().count()
        + " of "
        + shown.idle().watched()
        + " observed objects were not accessed "
        + (shown.idle().untouched()
            ? "since they were allocated, up to " + longest + excludedUseText(shown)
            : "for up to " + longest)
        + "; a timeout, scan or swap after more than "
        + longest
        + " is possible";
  }

  private static String allocated(Growth growth, Instant begun) {
    return " allocated " + between(begun, growth.stopped().orElse(begun));
  }

  private static String between(Instant from, Instant to) {
    boolean sameDay =
        Math.floorDiv(from.getEpochSecond(), DAY) == Math.floorDiv(to.getEpochSecond(), DAY);
    String begin = sameDay ? HumanText.minute(from) : HumanText.date(from);
    String end = sameDay ? HumanText.minute(to) : HumanText.date(to);
    return begin.equals(end) ? "at " + end : "between " + begin.replace(" UTC", "") + " and " + end;
  }

  private static String excludedUseText(Assessment shown) {
    double seconds = shown.idle().objectSeconds() / LeakThresholds.EXCLUDED_GAPS;
    return seconds < 1
        ? ""
        : "; random use more often than every " + atLeast(seconds) + " is excluded";
  }

  private static String growing(@Nullable Increase increase, Growth growth) {
    return increase == null
        ? growing(growth)
        : "; grows "
            + rate(increase.bytes() / increase.seconds())
            + " for "
            + atLeast(increase.seconds())
            + ": "
            + increase.born()
            + " sampled objects allocated since are live";
  }

  private static String growing(Growth growth) {
    if (growth.stopped().isPresent()) {
      return "; has not grown since " + HumanText.minute(growth.stopped().get());
    }
    return growth.bytesPerHour() > 0 ? "; +" + rate(growth.bytesPerHour() / HOUR) : "";
  }

  private static String use(Assessment shown, boolean seen) {
    if (!seen) {
      return ", whether used or not is not known";
    }
    if (shown.idle().count() == 0) {
      int watched = shown.idle().watched();
      return watched > 0 ? ", none of " + watched + " observed objects unused" : "";
    }
    return ", of which "
        + bytes(shown.suspected().bytes().value())
        + " were not accessed for "
        + atLeast(shown.suspected().idleSeconds())
        + " or more";
  }

  private static String noLeak(@Nullable NoLeakReason noLeakReason) {
    return noLeakReason == null ? "" : "; " + noLeakReason.words();
  }

  private static String keeps(Assessment shown) {
    return " keeps "
        + bytes(shown.suspected().bytes().value())
        + " in "
        + count(shown.suspected().objects().value())
        + " objects that were not accessed for "
        + atLeast(shown.suspected().idleSeconds())
        + " or more";
  }

  /**
   * Returns a text such as {@code render from write}: the name of the innermost Java method, and
   * the name of the site. Returns only the name of the site if the two names are equal, or if no
   * Java method is known.
   */
  static String siteText(String name, List<StackFrame> frames) {
    String site = HumanText.shortName(name);
    for (StackFrame frame : frames) {
      if (frame.kind() == StackFrame.Kind.JAVA && !frame.isOfCall()) {
        String top =
            HumanText.shortName(
                JavaNames.ofClass(frame.owner()) + "." + JavaNames.ofMethod(frame.name()));
        return top.equals(site) ? site : top + " from " + site;
      }
    }
    return site;
  }

  public static String bytes(double bytes) {
    return HumanText.roundedBytes(bytes);
  }

  /** Formats a rate, such as {@code 61 MiB/min}. A rate below 1 MiB/min is given per hour. */
  public static String rate(double bytesPerSecond) {
    double seconds = secondsOfRate(bytesPerSecond);
    return bytes(bytesPerSecond * seconds) + (seconds == MINUTE ? "/min" : "/h");
  }

  /**
   * Returns the unit of time in which {@link #rate} gives a rate: a minute or an hour, in seconds.
   */
  public static double secondsOfRate(double bytesPerSecond) {
    return bytesPerSecond * MINUTE >= 1 << 20 ? MINUTE : HOUR;
  }

  /** Returns a number, rounded to two significant digits, which is the precision of estimates. */
  static String count(double objects) {
    double scale = objects < 100 ? 1 : Math.pow(10, Math.floor(Math.log10(objects)) - 1);
    StringBuilder digits = new StringBuilder(whole(Math.round(objects / scale) * scale));
    for (int i = digits.length() - 3; i > 0; i -= 3) {
      digits.insert(i, ',');
    }
    return digits.toString();
  }

  /**
   * Returns a time such as {@code 7 h}, rounded down, so that it never exceeds the observed time.
   */
  public static String atLeast(double seconds) {
    double unit = seconds < 2 * MINUTE ? 1 : seconds < 2 * HOUR ? MINUTE : HOUR;
    return time(Math.floor(seconds / unit) * unit);
  }

  static String time(double seconds) {
    if (seconds < 2 * MINUTE) {
      return whole(seconds) + " s";
    }
    if (seconds < 2 * HOUR) {
      return whole(seconds / MINUTE) + " min";
    }
    return seconds < 2 * DAY ? whole(seconds / HOUR) + " h" : whole(seconds / DAY) + " days";
  }

  /** Avoids a Formatter, which would load locale data and keep thousands of objects live. */
  private static String whole(double value) {
    return Double.isNaN(value) ? "NaN" : Long.toString(Math.round(value));
  }
}
