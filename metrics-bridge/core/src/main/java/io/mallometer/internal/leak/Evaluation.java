package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.interposer.Evidence;
import io.mallometer.internal.interposer.SampledObject;
import io.mallometer.internal.interposer.SiteUse;
import io.mallometer.model.CallSite;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SiteVerdict.Grounds;
import io.mallometer.model.SiteVerdict.Growth;
import io.mallometer.model.SiteVerdict.Site;
import io.mallometer.model.SiteVerdict.Stack;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.Verdict;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One evaluation: what is judged as one, its standing after the one it had before, and the verdicts
 * that are in the report. Nothing of it stays but the standings and the verdicts.
 */
final class Evaluation {

  private final Evidence evidence;
  private final SamplesBySite samples;
  private final Window window;
  private final RecentGrowth growth;
  private final LostMemory lost;
  private final KnownLeaks known;
  private final Standings before;
  private final boolean news;
  private final Instant time;

  private final Standings standings;
  private final Findings findings = new Findings();
  private final Map<Integer, List<Integer>> stacks = new HashMap<>();
  private @Nullable RuntimeException failure;

  /**
   * An evaluation.
   *
   * @param before what is known from earlier ones
   * @param news whether it counts
   */
  Evaluation(
      Evidence evidence,
      SamplesBySite samples,
      Window window,
      RecentGrowth growth,
      LostMemory lost,
      KnownLeaks known,
      Standings before,
      boolean news,
      Instant time) {
    this.evidence = evidence;
    this.samples = samples;
    this.window = window;
    this.growth = growth;
    this.lost = lost;
    this.known = known;
    this.before = before;
    this.news = news;
    this.time = time;
    this.standings = before.next();
  }

  /** What the next evaluation has to know. */
  Standings standings() {
    return standings;
  }

  /** What failed first. */
  Optional<RuntimeException> failure() {
    return Optional.ofNullable(failure);
  }

  private void note(RuntimeException e) {
    failure = failure == null ? e : failure;
  }

  // ---- What is judged as one

  void judge(List<CallSite> sites) {
    Map<Standings.Name, List<Subject>> scarce = new HashMap<>();
    for (CallSite site : sites) {
      if (holdsNothing(site)) {
        keepOfNothing(site);
        continue;
      }
      Subject subject = subject(null, List.of(site));
      if (isForItself(subject)) {
        conclude(subject);
      } else {
        scarce.computeIfAbsent(Standings.Name.of(site), name -> new ArrayList<>()).add(subject);
      }
    }
    for (Map.Entry<Standings.Name, List<Subject>> few : scarce.entrySet()) {
      for (Subject subject : together(few.getKey(), few.getValue())) {
        conclude(subject);
      }
    }
  }

  /** Half of the sites of most programs. What was a leak is judged on, until it is none. */
  private boolean holdsNothing(CallSite site) {
    int number = site.number();
    return !(site.liveBytes().value() > 0)
        && !samples.has(number)
        && !before.leaksTogether(number)
        && !before.isSuspicious(number);
  }

  /** Since when it is healthy is known again when it holds something. */
  private void keepOfNothing(CallSite site) {
    Judgement unseen = Judgement.unseen();
    standings.put(site.number(), before.of(site.number(), unseen, time).showing(unseen));
  }

  private boolean isForItself(Subject subject) {
    if (before.isLeak(subject.number())) {
      return true;
    }
    return before.leaksTogether(subject.number())
        ? subject.judged().verdict() == Verdict.LEAK
        : !isScarce(subject.judged());
  }

  private static boolean isScarce(Judgement judged) {
    return judged.idle().count() > 0 && judged.idle().count() < LeakThresholds.FEWEST_STALE;
  }

  /** As one, if that says something; else each for itself. */
  private List<Subject> together(Standings.Name name, List<Subject> few) {
    boolean leak = before.isLeak(name);
    if (few.size() == 1 && !leak) {
      return few;
    }
    Subject all = subject(name, mostLiveFirst(few));
    boolean telling =
        all.judged().verdict() != Verdict.HEALTHY
            && all.judged().idle().count() >= LeakThresholds.FEWEST_STALE_TOGETHER;
    return leak || telling ? List.of(all) : few;
  }

  private static List<CallSite> mostLiveFirst(List<Subject> few) {
    return few.stream().map(one -> one.sites().get(0)).sorted(SiteOrder.LIVE.comparator()).toList();
  }

  // ---- Judgements

  private Subject subject(Standings.@Nullable Name group, List<CallSite> sites) {
    try {
      return new Subject(group, sites, judgement(sites), false);
    } catch (RuntimeException e) {
      note(e);
      return new Subject(group, sites, Judgement.unseen(), true);
    }
  }

  private Judgement judgement(List<CallSite> sites) {
    Judgement judged = ofUse(sites);
    int number = sites.get(0).number();
    if (sites.size() > 1) {
      return judged;
    }
    Judgement grown = growth.of(number, samples.of(number)).map(judged::growing).orElse(judged);
    @Nullable Lost proof = lost.of(number);
    return proof == null
        ? knownFrom(grown, sites.get(0))
        : grown.losing(proof, lost(proof, grown.suspected(), sites.get(0)));
  }

  private Suspected lost(Lost proof, Suspected idle, CallSite site) {
    List<SampledObject> old =
        LeakTest.observable(samples.of(site.number()), window, idle.thresholdSeconds());
    return proof.of(site, idle, LeakTest.bytes(old), LeakTest.objects(old));
  }

  /** A stack that leaked is no leak again before it is unused for long enough, and grows. */
  private Judgement knownFrom(Judgement judged, CallSite site) {
    boolean again =
        judged.verdict() == Verdict.UNUSED
            && judged.increase() != null
            && !judged.refutesLeak()
            && judged.idle().longestSeconds()
                >= LeakThresholds.KNOWN_SECONDS / window.times().scale();
    @Nullable KnownLeak earlier = again ? known.of(site.frames()) : null;
    return earlier == null ? judged : judged.knownFrom(earlier);
  }

  /**
   * The library has room for what it knows of so many sites only. Where it knows nothing of what
   * became of a site's objects, that those which are left are idle says too little.
   */
  private Judgement ofUse(List<CallSite> sites) {
    if (!evidence.observation().hasSeen()) {
      return Judgement.unseen();
    }
    if (!anyInSlot(sites)) {
      return Judgement.noneLeft();
    }
    SiteUse use = SiteUse.NONE;
    for (CallSite site : sites) {
      SiteUse known = evidence.sites().get(site.number());
      if (known == null && samples.anyInSlot(site.number())) {
        return Judgement.unseen();
      }
      use = known == null ? use : use.plus(known);
    }
    return LeakTest.judge(samplesOf(sites), use, window);
  }

  private boolean anyInSlot(List<CallSite> sites) {
    for (CallSite site : sites) {
      if (samples.anyInSlot(site.number())) {
        return true;
      }
    }
    return false;
  }

  private List<SampledObject> samplesOf(List<CallSite> sites) {
    if (sites.size() == 1) {
      return samples.of(sites.get(0).number());
    }
    List<SampledObject> all = new ArrayList<>();
    for (CallSite site : sites) {
      all.addAll(samples.of(site.number()));
    }
    return all;
  }

  private void conclude(Subject subject) {
    Standings.Name group = subject.group();
    Standing earlier =
        group == null
            ? before.of(subject.number(), subject.judged(), time)
            : before.of(group, subject.judged(), time);
    boolean counts = news || isOfGrowth(earlier.verdict(), subject.judged().verdict());
    Standing standing =
        counts && !subject.failed() ? earlier.after(subject.judged(), time) : earlier;
    if (group == null) {
      standings.put(subject.number(), standing);
      if (earlier.isLeak() && !standing.isLeak()) {
        known.refute(subject.sites().get(0));
      }
    } else {
      standings.put(group, subject.sites(), standing);
    }
    findings.add(subject, standing);
  }

  /** Growth is told without epochs. */
  private static boolean isOfGrowth(Verdict before, Verdict now) {
    return before == Verdict.GROWING && now == Verdict.HEALTHY
        || before == Verdict.HEALTHY && now == Verdict.GROWING;
  }

  /** Has the known leaks learn from each stack that is judged by itself. */
  void remember(Predicate<String> acknowledged) {
    for (Finding finding : findings.all()) {
      Subject subject = finding.subject();
      if (subject.group() == null) {
        try {
          known.learn(
              subject.sites().get(0), finding.standing(), acknowledged, time, window.times());
        } catch (RuntimeException e) {
          note(e);
        }
      }
    }
  }

  // ---- Verdicts

  /**
   * The verdicts, worst first.
   *
   * @param latest those of the evaluation before, for what cannot be told
   */
  List<SiteVerdict> verdicts(
      List<SiteVerdict> latest, Room room, LastUses uses, Predicate<String> acknowledged) {
    List<SiteVerdict> verdicts = new ArrayList<>();
    for (Finding finding : findings.byNameWorstFirst()) {
      List<CallSite> sites = finding.subject().sites();
      if (sites.size() > 1) {
        stacks.put(finding.subject().number(), numbers(sites));
      }
      try {
        verdicts.add(verdict(finding, room, uses, acknowledged));
      } catch (RuntimeException e) {
        note(e);
        latest.stream().filter(finding::isOf).forEach(verdicts::add);
      }
    }
    verdicts.sort(GROWING_FIRST); // stable
    return List.copyOf(verdicts);
  }

  /** By the number of a verdict's site those of all its sites; none where it has one alone. */
  Map<Integer, List<Integer>> stacks() {
    return stacks;
  }

  private static final Comparator<SiteVerdict> GROWING_FIRST =
      new Comparator<>() {
        @Override
        public int compare(SiteVerdict one, SiteVerdict other) {
          return Integer.compare(rank(one), rank(other));
        }

        private static int rank(SiteVerdict verdict) {
          return !Findings.isSuspect(verdict.verdict()) ? 2 : verdict.grows() ? 0 : 1;
        }
      };

  private SiteVerdict verdict(
      Finding finding, Room room, LastUses uses, Predicate<String> acknowledged) {
    List<CallSite> sites = finding.subject().sites();
    CallSite site = sites.get(0);
    Judgement judged = finding.standing().shown();
    Verdict verdict = finding.verdict();
    Suspected suspected =
        (judged.idle().count() > 0 ? judged.suspected() : judged.suspected().withAges(site.ages()))
            .atMost(site.liveBytes().most());
    Growth growth = growth(finding, room);
    LeakEvidence evidence = evidence(finding);
    return new SiteVerdict(
        verdict,
        finding.standing().since(),
        Sentence.of(
            verdict,
            Sentence.who(site.name(), site.frames()),
            judged,
            growth,
            growth.stopped().map(end -> firstBy(end, sites)).orElse(null),
            evidence != LeakEvidence.AGES && evidence != LeakEvidence.NONE,
            window.times()),
        new Site(
            site.name(),
            site.library(),
            site.number(),
            sites.size(),
            site.frames(),
            stacks(sites.subList(1, sites.size()))),
        suspected,
        growth,
        new Grounds(
            evidence,
            evidence == LeakEvidence.OUTLASTED ? LeakThresholds.CONFIDENCE : Double.NaN,
            uses.of(site.number(), false),
            uses.of(site.number(), true)),
        acknowledged.test(site.name()));
  }

  private static List<Stack> stacks(List<CallSite> sites) {
    List<Stack> stacks = new ArrayList<>();
    for (CallSite site : sites.subList(0, Math.min(Site.MOST_OTHERS, sites.size()))) {
      stacks.add(new Stack(site.number(), site.liveBytes().value(), site.frames()));
    }
    return stacks;
  }

  private Growth growth(Finding finding, Room room) {
    Judgement judged = finding.standing().shown();
    double live = finding.liveBytes();
    double suspected = judged.suspected().bytes().value();
    return switch (finding.verdict()) {
      case LEAK, UNUSED -> {
        Pace pace = pace(finding.subject().sites());
        yield Double.isNaN(pace.bytesPerHour())
            ? room.growth(live, suspected, perHour(judged), Optional.empty())
            : room.growth(live, suspected, pace.bytesPerHour(), stopped(pace));
      }
      case GROWING -> room.growth(live, live, perHour(judged), Optional.empty());
      default -> room.growth(live, suspected, Double.NaN, Optional.empty());
    };
  }

  private Pace pace(List<CallSite> sites) {
    return growth.pace(numbers(sites), samplesOf(sites));
  }

  private static List<Integer> numbers(List<CallSite> sites) {
    List<Integer> numbers = new ArrayList<>();
    for (CallSite site : sites) {
      numbers.add(site.number());
    }
    return numbers;
  }

  private Optional<Instant> stopped(Pace pace) {
    return pace.bytesPerHour() > 0 ? Optional.empty() : Optional.of(ago(pace.quietSeconds()));
  }

  /** When the first live sample was allocated; null if one was after a moment. */
  private @Nullable Instant firstBy(Instant end, List<CallSite> sites) {
    double oldest = 0;
    for (SampledObject object : samplesOf(sites)) {
      double seconds = (evidence.nanos() - object.bornNanos()) / 1e9;
      if (ago(seconds).isAfter(end)) {
        return null;
      }
      oldest = Math.max(oldest, seconds);
    }
    return ago(oldest);
  }

  private Instant ago(double seconds) {
    return time.minusMillis(Math.round(1e3 * seconds));
  }

  /** Of late, where that is known; else what became idle more. */
  private static double perHour(Judgement judged) {
    @Nullable Increase increase = judged.increase();
    return increase == null ? judged.growthBytesPerHour() : increase.bytesPerHour();
  }

  /** Objects in slots; else whether those that are live could have been. */
  private LeakEvidence evidence(Finding finding) {
    if (finding.verdict() == Verdict.LEAK) {
      return finding.standing().shown().leakEvidence();
    }
    Subject subject = finding.subject();
    Judgement judged = subject.failed() ? finding.standing().shown() : subject.judged();
    if (!Double.isNaN(judged.suspected().thresholdSeconds())) {
      return LeakEvidence.SLOTS;
    }
    for (CallSite site : subject.sites()) {
      for (SampledObject object : samples.of(site.number())) {
        if (object.bytes() <= LeakThresholds.LARGEST_PLACED_BYTES) {
          return LeakEvidence.AGES;
        }
      }
    }
    return LeakEvidence.NONE;
  }
}
