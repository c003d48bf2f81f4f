package io.mallometer.view;

import io.mallometer.model.LastUse;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What {@code nativememory/leaks} answers: an array. Like {@link NativeMemoryView}, unknown numbers
 * are null. Objects that were allocated before an attach are in no verdict; {@link
 * NativeMemoryView} says whether and when there was one.
 *
 * @param sites the verdicts, worst first
 */
public record LeaksView(List<Site> sites) implements View {

  /**
   * The verdict on a call site.
   *
   * @param verdict {@code leak}, {@code unused}, {@code growing}, {@code pool} or {@code healthy}
   * @param site who allocates
   * @param library the library that asked for the memory
   * @param number the call site's number
   * @param stacks how many call sites are judged together
   * @param frames the allocation stack, innermost first
   * @param sentence the verdict in plain words
   * @param confidence how likely the verdict {@code leak} is right, 0 to 1
   * @param suspectedBytes bytes in objects that nobody touched for long
   * @param suspectedBytesLow the lower end of its 95 % interval
   * @param suspectedBytesHigh its upper end
   * @param suspectedObjects those objects
   * @param liveBytes bytes in use
   * @param growthBytesPerHour what is suspected more each hour; if {@code growing}, live
   * @param oldestSeconds the age of the oldest suspected object; without slots, of the oldest live
   * @param medianAgeSeconds the age that half of those bytes exceed
   * @param idleSeconds the smallest idle time among the suspected
   * @param thresholdSeconds the idle time from which on objects of this site are suspected
   * @param shareOfLimit suspected bytes, or if {@code growing} live ones, as a share of the limit
   * @param secondsToLimit when the limit is reached if the site alone grows on like this
   * @param evidence {@code lost}, {@code outlasted} or {@code known} of a leak, else {@code slots},
   *     {@code ages} or {@code none}
   * @param since since when it is this verdict, in ISO 8601
   * @param lastAccess where an object of the site was last used
   * @param lastWrite where one was last written
   * @param acknowledged whether this site is known to be fine
   */
  public record Site(
      String verdict,
      String site,
      String library,
      int number,
      int stacks,
      List<String> frames,
      String sentence,
      @Nullable Double confidence,
      @View.Always @Nullable Long suspectedBytes,
      @Nullable Long suspectedBytesLow,
      @Nullable Long suspectedBytesHigh,
      @Nullable Long suspectedObjects,
      @Nullable Long liveBytes,
      @View.Always @Nullable Double growthBytesPerHour,
      @Nullable Double oldestSeconds,
      @Nullable Double medianAgeSeconds,
      @Nullable Double idleSeconds,
      @Nullable Double thresholdSeconds,
      @Nullable Double shareOfLimit,
      @Nullable Double secondsToLimit,
      String evidence,
      String since,
      Use lastAccess,
      Use lastWrite,
      boolean acknowledged) {

    private static Site of(SiteVerdict verdict) {
      return new Site(
          verdict.verdict().tag(),
          verdict.site().name(),
          verdict.site().library(),
          verdict.site().number(),
          verdict.site().stacks(),
          SiteQuery.frames(verdict.site().frames()),
          verdict.sentence(),
          known(verdict.grounds().confidence()),
          whole(verdict.suspected().bytes().value()),
          whole(verdict.suspected().bytes().low()),
          whole(verdict.suspected().bytes().high()),
          whole(verdict.suspected().objects().value()),
          whole(verdict.growth().liveBytes()),
          known(verdict.growth().bytesPerHour()),
          known(verdict.suspected().oldestSeconds()),
          known(verdict.suspected().medianAgeSeconds()),
          known(verdict.suspected().idleSeconds()),
          known(verdict.suspected().thresholdSeconds()),
          known(verdict.growth().shareOfLimit()),
          known(verdict.growth().secondsToLimit()),
          verdict.grounds().evidence().tag(),
          verdict.since().toString(),
          Use.of(verdict.grounds().lastAccess()),
          Use.of(verdict.grounds().lastWrite()),
          verdict.acknowledged());
    }

    private static @Nullable Long whole(double value) {
      return Double.isFinite(value) ? (Long) Math.round(value) : null;
    }

    private static @Nullable Double known(double value) {
      return Double.isFinite(value) ? (Double) value : null;
    }
  }

  /**
   * Where an object was used, or why that is not known.
   *
   * @param time when, in ISO 8601; null if unavailable, as are the next two
   * @param thread the thread's name
   * @param frames the stack, innermost first
   * @param unavailable why nothing is known; null if something is
   */
  public record Use(
      @Nullable String time,
      @Nullable String thread,
      @Nullable List<String> frames,
      @Nullable String unavailable) {

    private static Use of(LastUse use) {
      return use.time().isPresent()
          ? new Use(
              use.time().map(Instant::toString).get(),
              use.thread(),
              SiteQuery.frames(use.frames()),
              null)
          : new Use(null, null, null, use.unavailable());
    }
  }

  @Override
  public Object tree() {
    return View.super.tree() instanceof Map<?, ?> map ? map.get("sites") : List.of();
  }

  /**
   * The verdicts.
   *
   * @param all also those that are healthy
   */
  static LeaksView of(LeakReport report, boolean all) {
    List<SiteVerdict> shown = all ? report.sites() : report.suspicious();
    return new LeaksView(shown.stream().map(Site::of).toList());
  }
}
