package io.mallometer;

import io.mallometer.model.Estimate;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.LastUse;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.Observation;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Creates verdicts on call sites, with numbers that a test chooses. */
public final class VerdictsByHand {

  static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");

  private static final LastUse SEEN =
      LastUse.seen(TIME, "worker", List.of(StackFrame.ofJava("a.B", "use", "B.java", 3)));
  private static final LastUse NOT_SEEN = LastUse.unavailable("perf_event_open is forbidden");

  private VerdictsByHand() {}

  public static LeakReport report(SiteVerdict... verdicts) {
    List<SiteVerdict> sites = Arrays.asList(verdicts);
    Map<String, SiteVerdict.Garbage> garbage =
        sites.stream()
            .filter(site -> site.verdict() != Verdict.LEAK)
            .collect(
                Collectors.toMap(
                    site -> site.site().name(),
                    site -> site.grounds().garbage(),
                    (first, second) -> first));
    return new LeakReport(TIME, observation(), sites, "", garbage, "");
  }

  /**
   * Returns verdicts on two leaks, a growing site and a pool. The first leak has two stacks. The
   * second is acknowledged and no longer grows.
   */
  public static LeakReport four() {
    return report(
        withAnotherStack(verdict(Verdict.LEAK, "com.shop.Report.render", 388, 2, 1_300_000_000)),
        stopped(verdict(Verdict.LEAK, "com.shop.Cart.zip", 12, 40_000)).acknowledged(true),
        verdict(Verdict.GROWING, "com.shop.Store.open", 7, 0),
        verdict(Verdict.POOL, "com.shop.Pool.fill", 9, 70_000));
  }

  public static LeakReport five() {
    List<SiteVerdict> sites = new ArrayList<>(four().sites());
    sites.add(verdict(Verdict.UNUSED, "com.shop.Basket.keep", 5, 60_000_000));
    return report(sites.toArray(SiteVerdict[]::new));
  }

  private static SiteVerdict withAnotherStack(SiteVerdict one) {
    SiteVerdict.Site site = one.site();
    SiteVerdict.Stack other = new SiteVerdict.Stack(389, 70_000, site.frames());
    return new SiteVerdict(
        one.verdict(),
        one.since(),
        one.sentence(),
        new SiteVerdict.Site(
            site.name(), site.library(), site.number(), 2, site.frames(), List.of(other)),
        one.suspected(),
        one.growth(),
        one.grounds(),
        one.acknowledged());
  }

  /** Returns a copy of the verdict, with a site that has not grown since {@link #TIME}. */
  public static SiteVerdict stopped(SiteVerdict one) {
    return with(
        one, new SiteVerdict.Growth(one.growth().liveBytes(), 0, Optional.of(TIME)), one.grounds());
  }

  /** Returns a copy of the verdict as a leak of lost objects, to which no pointer refers. */
  public static SiteVerdict lost(SiteVerdict one) {
    return with(
        one,
        one.growth(),
        new SiteVerdict.Grounds(
            LeakEvidence.LOST, Double.NaN, one.grounds().lastAccess(), one.grounds().lastWrite()));
  }

  private static SiteVerdict with(
      SiteVerdict one, SiteVerdict.Growth growth, SiteVerdict.Grounds grounds) {
    return new SiteVerdict(
        one.verdict(),
        one.since(),
        one.sentence(),
        one.site(),
        one.suspected(),
        growth,
        grounds,
        one.acknowledged());
  }

  public static SiteVerdict verdict(Verdict verdict, String site, int number, double bytes) {
    return verdict(verdict, site, number, 1, bytes);
  }

  /** Returns a verdict on several stacks that are judged together. */
  public static SiteVerdict verdict(
      Verdict verdict, String site, int number, int stacks, double bytes) {
    boolean leak = verdict == Verdict.LEAK;
    double perHour = leak ? 190_000_000 : Double.NaN;
    return verdict(verdict, site, number, stacks, bytes, growth(bytes, perHour));
  }

  private static SiteVerdict verdict(
      Verdict verdict,
      String site,
      int number,
      int stacks,
      double bytes,
      SiteVerdict.Growth growth) {
    int dot = site.lastIndexOf('.');
    boolean leak = verdict == Verdict.LEAK;
    boolean pool = verdict == Verdict.POOL;
    return new SiteVerdict(
        verdict,
        TIME,
        site + " keeps memory",
        new SiteVerdict.Site(
            site,
            "libzip.so",
            number,
            stacks,
            List.of(
                StackFrame.ofLibrary("libzip.so", "deflateInit2_", 31),
                StackFrame.ofJava(
                    site.substring(0, dot), site.substring(dot + 1), "Some.java", 12))),
        new SiteVerdict.Suspected(
            new Estimate(bytes, bytes * bytes / 100, 40),
            new Estimate(41_000, 1_000, 40),
            300,
            720,
            1_800,
            3_600),
        growth,
        new SiteVerdict.Grounds(
            leak ? LeakEvidence.OUTLASTED : LeakEvidence.SLOTS,
            leak ? 0.95 : Double.NaN,
            pool ? NOT_SEEN : SEEN,
            pool ? SEEN : NOT_SEEN),
        false);
  }

  private static SiteVerdict.Growth growth(double bytes, double perHour) {
    return new SiteVerdict.Growth(bytes + 1, perHour, Optional.empty());
  }

  public static SiteVerdict waiting(
      String site, double bytes, GarbageAnswer answer, double bytesPerSecond) {
    return garbage(Verdict.WAITS_FOR_GC, site, bytes, answer, bytesPerSecond);
  }

  /**
   * Returns a verdict that says whether garbage collections free the site's objects. If {@code
   * answer} is {@code OLD}, collections of the old generation free half of the bytes.
   */
  public static SiteVerdict garbage(
      Verdict verdict, String site, double bytes, GarbageAnswer answer, double bytesPerSecond) {
    double waiting = answer == GarbageAnswer.OLD ? bytes / 2 : 0;
    SiteVerdict held = verdict(verdict, site, 7, bytes);
    SiteVerdict.Grounds grounds = held.grounds();
    return with(
        held,
        held.growth(),
        new SiteVerdict.Grounds(
            grounds.evidence(),
            grounds.confidence(),
            grounds.lastAccess(),
            grounds.lastWrite(),
            new SiteVerdict.Garbage(
                answer,
                new Estimate(waiting, waiting * waiting / 100, 40),
                bytesPerSecond,
                3,
                840)));
  }

  public static SiteVerdict leak(String site, double bytes) {
    return verdict(Verdict.LEAK, site, 7, 1, bytes, growth(bytes, Double.NaN));
  }

  public static SiteVerdict stopped(String site, double bytes, Instant since) {
    return verdict(
        Verdict.LEAK, site, 7, 1, bytes, new SiteVerdict.Growth(bytes, 0, Optional.of(since)));
  }

  /**
   * Returns a verdict on a site whose bytes have all been idle for 5 minutes. It grows by {@code
   * perHour} bytes per hour.
   */
  public static SiteVerdict growing(Verdict verdict, String site, double perHour, double bytes) {
    SiteVerdict made =
        verdict(
            verdict, site, 7, 1, bytes, new SiteVerdict.Growth(bytes, perHour, Optional.empty()));
    return new SiteVerdict(
        made.verdict(),
        made.since(),
        made.sentence(),
        made.site(),
        new SiteVerdict.Suspected(
            made.suspected().bytes(), made.suspected().objects(), 120, 120, 200, 300),
        made.growth(),
        made.grounds(),
        false);
  }

  /** Returns a report at a time when accesses to objects have been observed for {@code seen}. */
  public static LeakReport youngReport(Duration seen) {
    Observation whole = observation();
    return new LeakReport(
        TIME,
        new Observation(
            whole.state(),
            "",
            new Observation.Period(
                whole.period().method(),
                whole.period().startedNanos(),
                whole.period().startedNanos() + seen.toNanos(),
                whole.period().epochs(),
                120,
                2,
                0.5),
            whole.space(),
            List.of(),
            new Observation.Placement(0, 0, 0),
            "",
            ""),
        List.of(),
        "");
  }

  /** Returns a report that tells why no further objects are observed. */
  public static LeakReport pausedReport(String reason) {
    return new LeakReport(TIME, observation(reason), List.of(), "");
  }

  public static Observation observation() {
    return observation("");
  }

  /** Returns an observation with this state and period. Its other figures and texts are empty. */
  public static Observation observation(Observation.State state, Observation.Period period) {
    return new Observation(
        state,
        "",
        period,
        new Observation.Space(0, 0, 0),
        List.of(),
        new Observation.Placement(0, 0, 0),
        "",
        "");
  }

  private static Observation observation(String reason) {
    return new Observation(
        Observation.State.ON,
        reason,
        new Observation.Period("cold", 1_000_000_000, 900_000_000_000L, 5, 120, 2, 0.5),
        new Observation.Space(700_000_000, 9_000_000, 16_000_000),
        List.of(new Observation.Slots(4_096, 3_072, 435)),
        new Observation.Placement(1_361, 17, 3),
        "perf_event_open is forbidden",
        "searched 310 MiB twice: 2 call sites lose memory");
  }
}
