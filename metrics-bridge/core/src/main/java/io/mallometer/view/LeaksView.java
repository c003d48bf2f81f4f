package io.mallometer.view;

import io.mallometer.model.LastUse;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answer of {@code nativememory/leaks}: an array. Like {@link NativeMemoryView}, unknown numbers
 * are {@code NaN}. Objects that were allocated before an attach are in no verdict; {@link
 * NativeMemoryView} says whether and when there was one.
 *
 * @param sites the verdicts, worst first
 */
public record LeaksView(List<Site> sites) implements View {

  /**
   * The verdict on a call site.
   *
   * @param verdict {@code leak}, {@code unused}, {@code growing}, {@code pool} or {@code healthy}
   * @param site the call site's name
   * @param library the library that asked for the memory
   * @param number the call site's number
   * @param stacks the number of call sites of that name that have this verdict together
   * @param frames the allocation stack of the one on which the verdict stands, innermost first
   * @param others the stacks of the other call sites, most bytes first, at most nine
   * @param sentence the verdict in plain words
   * @param confidence how likely the verdict {@code leak} is right, 0 to 1
   * @param suspectedBytes bytes of the suspected objects: lost ones, or idle ones
   * @param suspectedBytesLow the lower end of its 95 % interval
   * @param suspectedBytesHigh the upper end
   * @param suspectedObjects the suspected objects
   * @param liveBytes live bytes
   * @param growthBytesPerHour the rise of live bytes in an hour, at the rate of the last minutes; 0
   *     if they do not rise
   * @param stopped the time since which live bytes have not risen, in ISO 8601
   * @param oldestSeconds the age of the oldest suspected object; without slots, of the oldest live
   *     object
   * @param medianAgeSeconds the age that half of the suspected bytes exceed
   * @param idleSeconds the smallest idle time of a suspected object
   * @param thresholdSeconds the idle time from which on objects of this site are suspected
   * @param evidence {@code lost}, {@code outlasted} or {@code known} for a leak; {@code slots},
   *     {@code ages} or {@code none} for other verdicts
   * @param since the time from which on the verdict holds, in ISO 8601
   * @param lastAccess the code that last used an object of the site
   * @param lastWrite the code that last wrote an object of the site
   * @param acknowledged whether a person acknowledged the site
   */
  public record Site(
      String verdict,
      String site,
      String library,
      int number,
      int stacks,
      List<StackFrame> frames,
      List<SiteVerdict.Stack> others,
      String sentence,
      double confidence,
      @View.Always @Whole double suspectedBytes,
      @Whole double suspectedBytesLow,
      @Whole double suspectedBytesHigh,
      @Whole double suspectedObjects,
      @Whole double liveBytes,
      @View.Always double growthBytesPerHour,
      Optional<Instant> stopped,
      double oldestSeconds,
      double medianAgeSeconds,
      double idleSeconds,
      double thresholdSeconds,
      String evidence,
      Instant since,
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
          verdict.site().frames(),
          verdict.site().others(),
          verdict.sentence(),
          verdict.grounds().confidence(),
          Math.rint(verdict.suspected().bytes().value()),
          Math.rint(verdict.suspected().bytes().low()),
          Math.rint(verdict.suspected().bytes().high()),
          Math.rint(verdict.suspected().objects().value()),
          Math.rint(verdict.growth().liveBytes()),
          verdict.growth().bytesPerHour(),
          verdict.growth().stopped(),
          verdict.suspected().oldestSeconds(),
          verdict.suspected().medianAgeSeconds(),
          verdict.suspected().idleSeconds(),
          verdict.suspected().thresholdSeconds(),
          verdict.grounds().evidence().tag(),
          verdict.since(),
          Use.of(verdict.grounds().lastAccess()),
          Use.of(verdict.grounds().lastWrite()),
          verdict.acknowledged());
    }
  }

  /**
   * The last access to an object, or the reason why it is not known.
   *
   * @param time when, in ISO 8601; null if unavailable, as are the next two
   * @param thread the thread's name
   * @param frames the stack, innermost first
   * @param unavailable why nothing is known; null if something is
   */
  public record Use(
      @Nullable Instant time,
      @Nullable String thread,
      @Nullable List<StackFrame> frames,
      @Nullable String unavailable) {

    private static Use of(LastUse use) {
      return use.time().isPresent()
          ? new Use(use.time().get(), use.thread(), use.frames(), null)
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
