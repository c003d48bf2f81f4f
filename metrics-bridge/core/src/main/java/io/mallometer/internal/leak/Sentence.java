package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.symbol.JavaNames;
import io.mallometer.internal.text.Words;
import io.mallometer.model.SiteVerdict.Growth;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A verdict in plain words. */
public final class Sentence {

  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};
  private static final double MINUTE = 60;
  private static final double HOUR = 3_600;
  private static final long DAY = 86_400;

  private Sentence() {}

  /**
   * Returns a sentence such as {@code Deflater.init from ReportService.render keeps 1.3 GiB in
   * 41,000 objects that were not accessed for 12 min or more; +190 MiB/h}.
   *
   * @param begun the allocation of the oldest live object, if no object was allocated since growth
   *     stopped; else null
   */
  static String of(
      Verdict verdict,
      String who,
      Judgement judged,
      Growth growth,
      @Nullable Instant begun,
      boolean seen,
      Times times) {
    String holds = who + " holds " + bytes(growth.liveBytes());
    return switch (verdict) {
      case LEAK -> proven(who, judged, growth, times) + growing(growth);
      case UNUSED ->
          begun != null && judged.idle().untouched()
              ? holds + allocated(growth, begun) + unused(judged) + noLeak(judged.acquittal())
              : holds + unused(judged) + growing(growth) + noLeak(judged.acquittal());
      case POOL -> who + keeps(judged) + noLeak(judged.acquittal());
      case GROWING -> holds + use(judged, seen) + growing(judged.increase(), growth);
      case HEALTHY -> holds + "; nothing points to a leak";
    };
  }

  private static String proven(String who, Judgement judged, Growth growth, Times times) {
    Lost lost = judged.lost();
    KnownLeak known = judged.known();
    String holds = who + " holds " + bytes(growth.liveBytes());
    if (lost == null) {
      return known == null
          ? who + keeps(judged) + outlasted(judged, times)
          : holds + again(known) + unused(judged);
    }
    return holds
        + ": no address of "
        + lost.lost()
        + " of "
        + lost.sought()
        + " sampled objects exists in the process, so no code can use or free them";
  }

  private static String again(KnownLeak known) {
    return ": the same stack was a leak in an earlier run (since "
        + Words.date(known.time())
        + ", "
        + known.evidence().tag()
        + "), and is unused again";
  }

  private static String outlasted(Judgement judged, Times times) {
    String oldest = "; the longest for " + atLeast(judged.idle().longestSeconds());
    return times.longestTimeoutSeconds() > 0
        ? oldest
            + ", beyond any timeout of this program ("
            + time(times.longestTimeoutSeconds())
            + ")"
        : oldest;
  }

  /** What is excluded holds for objects that were never used: others have a gap of their own. */
  private static String unused(Judgement judged) {
    String longest = atLeast(judged.idle().longestSeconds());
    return ": "
        + judged.idle().count()
        + " of "
        + judged.idle().watched()
        + " observed objects were not accessed "
        + (judged.idle().untouched()
            ? "since they were allocated, up to " + longest + excluded(judged)
            : "for up to " + longest)
        + "; a timeout, scan or swap later than "
        + longest
        + " is not excluded";
  }

  /** Returns in words the two moments between which all live objects were allocated. */
  private static String allocated(Growth growth, Instant begun) {
    return " allocated " + between(begun, growth.stopped().orElse(begun));
  }

  private static String between(Instant from, Instant to) {
    boolean sameDay =
        Math.floorDiv(from.getEpochSecond(), DAY) == Math.floorDiv(to.getEpochSecond(), DAY);
    String begin = sameDay ? timeOfDay(from) : Words.date(from);
    String end = sameDay ? timeOfDay(to) : Words.date(to);
    return begin.equals(end) ? "at " + end : "between " + begin.replace(" UTC", "") + " and " + end;
  }

  private static String excluded(Judgement judged) {
    double seconds = judged.idle().objectSeconds() / LeakThresholds.EXCLUDED_GAPS;
    return seconds < 1
        ? ""
        : "; random use more often than every " + atLeast(seconds) + " is excluded";
  }

  private static String growing(@Nullable Increase increase, Growth growth) {
    return increase == null
        ? growing(growth)
        : "; grows "
            + bytes(increase.bytes() / increase.seconds() * MINUTE)
            + "/min for "
            + atLeast(increase.seconds())
            + ": "
            + increase.born()
            + " sampled objects allocated since are live";
  }

  private static String growing(Growth growth) {
    if (growth.stopped().isPresent()) {
      return "; has not grown since " + timeOfDay(growth.stopped().get());
    }
    return growth.bytesPerHour() > 0 ? "; +" + bytes(growth.bytesPerHour()) + "/h" : "";
  }

  private static String use(Judgement judged, boolean seen) {
    if (!seen) {
      return ", whether used or not is not known";
    }
    if (judged.idle().count() == 0) {
      int watched = judged.idle().watched();
      return watched > 0 ? ", none of " + watched + " observed objects unused" : "";
    }
    return ", of which "
        + bytes(judged.suspected().bytes().value())
        + " were not accessed for "
        + atLeast(judged.suspected().idleSeconds())
        + " or more";
  }

  private static String noLeak(@Nullable Acquittal acquittal) {
    return acquittal == null ? "" : "; " + acquittal.words();
  }

  private static String keeps(Judgement judged) {
    return " keeps "
        + bytes(judged.suspected().bytes().value())
        + " in "
        + count(judged.suspected().objects().value())
        + " objects that were not accessed for "
        + atLeast(judged.suspected().idleSeconds())
        + " or more";
  }

  /** Who allocates: the innermost Java method, and the site's name where that is another. */
  static String who(String name, List<StackFrame> frames) {
    String site = Words.shortName(name);
    for (StackFrame frame : frames) {
      if (frame.kind() == StackFrame.Kind.JAVA && !frame.isOfCall()) {
        String top =
            Words.shortName(
                JavaNames.ofClass(frame.owner()) + "." + JavaNames.ofMethod(frame.name()));
        return top.equals(site) ? site : top + " from " + site;
      }
    }
    return site;
  }

  /** Such as {@code 1.3 GiB}, in the units of all other sentences. */
  public static String bytes(double bytes) {
    int unit = 0;
    double value = bytes;
    while (value >= 999.5 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    String number = unit == 0 || value >= 9.95 ? whole(value) : tenths(value);
    return number + " " + UNITS[unit];
  }

  /** Two digits, as more are not known. */
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

  /** Such as {@code 7 h}. */
  static String time(double seconds) {
    if (seconds < 2 * MINUTE) {
      return whole(seconds) + " s";
    }
    if (seconds < 2 * HOUR) {
      return whole(seconds / MINUTE) + " min";
    }
    return seconds < 2 * DAY ? whole(seconds / HOUR) + " h" : whole(seconds / DAY) + " days";
  }

  /** Such as {@code 14:35 UTC}. */
  static String timeOfDay(Instant time) {
    long minutes = Math.floorMod(Math.floorDiv(time.getEpochSecond(), 60L), 1440L);
    return twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60) + " UTC";
  }

  // ---- Numbers. A Formatter would load the data of locales, thousands of objects that stay.

  private static String whole(double value) {
    return Double.isNaN(value) ? "NaN" : Long.toString(Math.round(value));
  }

  private static String twoDigits(long value) {
    return (value < 10 ? "0" : "") + value;
  }

  private static String tenths(double value) {
    long tenths = Math.round(10 * value);
    return tenths / 10 + "." + tenths % 10;
  }
}
