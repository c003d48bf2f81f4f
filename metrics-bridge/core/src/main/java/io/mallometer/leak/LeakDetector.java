package io.mallometer.leak;

import io.mallometer.CallSite;
import io.mallometer.CallSites;
import io.mallometer.LeakEvidence;
import io.mallometer.LeakOptions;
import io.mallometer.LeakReport;
import io.mallometer.Observation;
import io.mallometer.SiteOrder;
import io.mallometer.SiteVerdict;
import io.mallometer.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * From one evidence after the other to verdicts.
 *
 * <p>What is judged is a call site, which is one whole stack: a leak behind a wrapper that others
 * share is told apart from them. Where a name has many stacks, each with too few idle samples to be
 * judged, those are judged together, by name and library: together they have the evidence that one
 * alone has not. A site that could be judged alone is never in such a group. While a group is a
 * leak its sites stay in it, but for those that are leaks by themselves; and a site that is a leak
 * stays out of groups however few idle objects it has left. Else either would be judged as
 * something that has no verdict yet.
 *
 * <p>A verdict changes when {@link LeakThresholds#AGREEING} evaluations in a row say so: one epoch
 * proves nothing. An evaluation before the next epoch has ended that says something changes
 * nothing. A leak stays one until as many as {@link LeakThresholds#AGREEING_TO_CLEAR} in a row find
 * something that speaks against it: that its arrivals have ended or fallen off, that its objects
 * are used again, or that too few are left. With few samples what would not convict does not
 * acquit.
 *
 * <p>An evaluation of n sites and samples takes a time of n log n: with 13,000 sites and 10,000
 * samples 30 ms of processor time, and ten times as long while it is not compiled yet. Not
 * thread-safe.
 */
public final class LeakDetector {

  /** As many verdicts of healthy sites are in a report, those with most live bytes. */
  static final int MOST_HEALTHY = 200;

  private static final double NANOS = 1e9;

  private static final Comparator<Finding> WORST_FIRST =
      Comparator.comparing(Finding::verdict)
          .thenComparing(Comparator.comparingDouble(Finding::weight).reversed())
          .thenComparing(Finding::number);

  private final double floorSeconds;
  private final LiveTrend trend;
  private final VoidTime voidTime;
  private Map<Key, Standing> standings = new HashMap<>();
  private long tellingEpochs;

  /** The groups of sites whose group is a leak, by the number of the site. */
  private Map<Integer, Key> leakTogether = new HashMap<>();

  /** One site, or those of a name. */
  private record Key(int number, String name, String library) {

    static Key alone(CallSite site) {
      return new Key(site.number(), "", "");
    }

    static Key group(CallSite site) {
      return new Key(-1, site.name(), site.library());
    }

    boolean isGroup() {
      return number < 0;
    }
  }

  /** What is judged as one. */
  private record Subject(Key key, List<CallSite> sites, Judgement judged) {}

  /**
   * What a verdict will be made of, if it is one of those in the report.
   *
   * @param growing what the subject holds more each hour; {@code NaN} if it does not grow
   * @param weight by which verdicts of one kind are ordered
   */
  private record Finding(
      Subject subject, Standing standing, double growing, double liveBytes, double weight) {

    static Finding of(Subject subject, Standing standing, double growing) {
      double live = 0;
      for (CallSite site : subject.sites()) {
        live += site.liveBytes().value();
      }
      double suspected = standing.shown().bytes().value();
      boolean bySuspicion = standing.isLeak() || standing.verdict() == Verdict.POOL;
      double weight = bySuspicion && !Double.isNaN(suspected) ? suspected : live;
      return new Finding(subject, standing, growing, live, weight);
    }

    Verdict verdict() {
      return standing.verdict();
    }

    int number() {
      return subject.sites().get(0).number();
    }
  }

  /** A detector without knowledge, for options whose names of healthy sites are not used here. */
  public LeakDetector(LeakOptions options) {
    this(options, new VoidTime());
  }

  private LeakDetector(LeakOptions options, VoidTime voidTime) {
    this.voidTime = voidTime;
    this.floorSeconds = options.profile().floor().toMillis() / 1e3 / options.timeScale();
    this.trend = new LiveTrend(floorSeconds);
  }

  /** Three floors: what came first has to be idle for one of them, and others to come for two. */
  public static Duration leastObservation(LeakOptions options) {
    double floors = 1 + LeakThresholds.ARRIVAL_SPAN;
    return Duration.ofNanos(
        (long) (floors * options.profile().floor().toNanos() / options.timeScale()));
  }

  /** A detector for other options that knows when nothing was seen, and no verdicts. */
  public LeakDetector with(LeakOptions options) {
    return new LeakDetector(options, voidTime);
  }

  /** How long to wait between two evaluations. */
  public static Duration pace(LeakOptions options) {
    return Duration.ofNanos((long) (LeakThresholds.PACE_SECONDS * NANOS / options.timeScale()));
  }

  /**
   * Evaluates.
   *
   * @param sites the call sites of about the same moment
   * @param time the moment
   * @param acknowledged whether the site of a name is known to be fine
   */
  public LeakReport evaluate(
      Evidence evidence,
      CallSites sites,
      Instant time,
      Room room,
      LastUses uses,
      Predicate<String> acknowledged) {
    voidTime.add(evidence);
    boolean news = hasNews(evidence.observation());
    trend.add(sites, evidence.nanos() / NANOS);
    Map<Integer, List<SampledObject>> objects = bySite(evidence);
    Map<Key, Standing> now = new HashMap<>();
    Map<Integer, Key> nowTogether = new HashMap<>();
    List<Finding> findings = new ArrayList<>();
    for (Subject subject : subjects(evidence, sites, objects)) {
      double growing = growing(subject);
      Verdict raw = raw(subject, growing);
      Standing before = before(subject, time);
      Standing standing = news ? before.after(raw, subject.judged(), time) : before;
      now.put(subject.key(), standing);
      if (standing.isLeak() && subject.key().isGroup()) {
        subject.sites().forEach(site -> nowTogether.put(site.number(), subject.key()));
      }
      findings.add(Finding.of(subject, standing, growing));
    }
    standings = now;
    leakTogether = nowTogether;
    List<SiteVerdict> verdicts =
        fewHealthy(findings).stream()
            .map(finding -> verdict(finding, objects, room, uses, acknowledged))
            .toList();
    return new LeakReport(time, evidence.observation(), verdicts, sites.reason());
  }

  /** Whether an epoch has ended since the last evaluation that says something, if any ever does. */
  private boolean hasNews(Observation observation) {
    long telling = observation.epochs() - observation.voidEpochs();
    boolean news = !observation.hasSeen() || telling != tellingEpochs;
    tellingEpochs = telling;
    return news;
  }

  /** A site that leaves a group because it is a leak by itself is one at once. */
  private Standing before(Subject subject, Instant time) {
    Key group = leakTogether.get(subject.key().number());
    Standing known = standings.get(subject.key());
    if (known != null) {
      return known;
    }
    Standing ofGroup = group == null ? null : standings.get(group);
    return ofGroup == null
        ? Standing.of(subject.judged(), time)
        : ofGroup.showing(subject.judged());
  }

  private static Map<Integer, List<SampledObject>> bySite(Evidence evidence) {
    Map<Integer, List<SampledObject>> bySite = new HashMap<>();
    for (SampledObject object : evidence.objects()) {
      bySite.computeIfAbsent(object.site(), site -> new ArrayList<>()).add(object);
    }
    return bySite;
  }

  // ---- What is judged as one

  private List<Subject> subjects(
      Evidence evidence, CallSites sites, Map<Integer, List<SampledObject>> objects) {
    List<Subject> subjects = new ArrayList<>();
    Map<Key, List<Subject>> scarce = new HashMap<>();
    for (CallSite site : sites.sites()) {
      if (holdsNothing(site, objects)) {
        continue;
      }
      Subject subject =
          new Subject(Key.alone(site), List.of(site), judge(evidence, List.of(site), objects));
      if (isForItself(subject)) {
        subjects.add(subject);
      } else {
        scarce.computeIfAbsent(Key.group(site), key -> new ArrayList<>()).add(subject);
      }
    }
    scarce.forEach((key, few) -> subjects.addAll(together(key, few, evidence, objects)));
    return subjects;
  }

  /** Half of the sites of most programs. What was a leak is judged on, until it is none. */
  private boolean holdsNothing(CallSite site, Map<Integer, List<SampledObject>> objects) {
    if (site.liveBytes().value() > 0
        || objects.containsKey(site.number())
        || leakTogether.containsKey(site.number())) {
      return false;
    }
    Standing standing = standings.get(Key.alone(site));
    return standing == null || standing.verdict() == Verdict.HEALTHY;
  }

  private boolean isForItself(Subject subject) {
    if (isLeak(subject.key())) {
      return true;
    }
    return leakTogether.containsKey(subject.key().number())
        ? subject.judged().verdict() == Verdict.LEAK
        : !isScarce(subject.judged());
  }

  private boolean isLeak(Key key) {
    Standing standing = standings.get(key);
    return standing != null && standing.isLeak();
  }

  private static boolean isScarce(Judgement judged) {
    return judged.stale() > 0 && judged.stale() < LeakThresholds.FEWEST_STALE;
  }

  /** As one, if that says something; else each for itself. */
  private List<Subject> together(
      Key key, List<Subject> few, Evidence evidence, Map<Integer, List<SampledObject>> objects) {
    boolean leak = isLeak(key);
    if (few.size() == 1 && !leak) {
      return few;
    }
    List<CallSite> sites = few.stream().map(one -> one.sites().get(0)).toList();
    Judgement judged = judge(evidence, sites, objects);
    boolean telling =
        judged.verdict() != Verdict.HEALTHY
            && judged.stale() >= LeakThresholds.FEWEST_STALE_TOGETHER;
    return leak || telling ? List.of(new Subject(key, mostLiveFirst(sites), judged)) : few;
  }

  private static List<CallSite> mostLiveFirst(List<CallSite> sites) {
    return sites.stream().sorted(SiteOrder.LIVE.comparator()).toList();
  }

  /**
   * The library has room for what it knows of so many sites only. Where it knows nothing of what
   * became of a site's objects, that those which are left are idle says too little.
   */
  private Judgement judge(
      Evidence evidence, List<CallSite> sites, Map<Integer, List<SampledObject>> objects) {
    Observation observation = evidence.observation();
    if (!observation.hasSeen()) {
      return Judgement.unseen();
    }
    List<SampledObject> live = new ArrayList<>();
    SiteUse use = SiteUse.NONE;
    for (CallSite site : sites) {
      List<SampledObject> objectsOfSite = objects.getOrDefault(site.number(), List.of());
      SiteUse known = evidence.sites().get(site.number());
      if (known == null && objectsOfSite.stream().anyMatch(SampledObject::inSlot)) {
        return Judgement.unseen();
      }
      live.addAll(objectsOfSite);
      use = known == null ? use : use.plus(known);
    }
    return LeakTest.judge(live, use, Window.of(observation, floorSeconds, voidTime));
  }

  // ---- Verdicts

  private static Verdict raw(Subject subject, double growing) {
    Verdict judged = subject.judged().verdict();
    return judged != Verdict.LEAK && !Double.isNaN(growing) ? Verdict.GROWING : judged;
  }

  private double growing(Subject subject) {
    return subject.sites().size() == 1
        ? trend.growthBytesPerHour(subject.sites().get(0))
        : Double.NaN;
  }

  private SiteVerdict verdict(
      Finding finding,
      Map<Integer, List<SampledObject>> objects,
      Room room,
      LastUses uses,
      Predicate<String> acknowledged) {
    Subject subject = finding.subject();
    CallSite site = subject.sites().get(0);
    Judgement judged = finding.standing().shown();
    Verdict verdict = finding.verdict();
    double live = finding.liveBytes();
    boolean grows = verdict == Verdict.GROWING;
    double growth =
        grows
            ? finding.growing()
            : verdict == Verdict.LEAK ? judged.growthBytesPerHour() : Double.NaN;
    double toLimit = verdict == Verdict.LEAK || grows ? room.secondsAt(growth) : Double.NaN;
    LeakEvidence evidence = evidence(subject, objects);
    boolean idle = judged.stale() > 0;
    return new SiteVerdict(
        verdict,
        site.name(),
        site.library(),
        site.number(),
        subject.sites().size(),
        site.frames(),
        Sentence.of(
            verdict,
            Sentence.who(site.name(), site.frames()),
            judged,
            live,
            growth,
            toLimit,
            evidence == LeakEvidence.SLOTS),
        verdict == Verdict.LEAK ? judged.confidence() : Double.NaN,
        judged.bytes(),
        judged.objects(),
        live,
        growth,
        judged.thresholdSeconds(),
        judged.idleSeconds(),
        idle ? judged.medianAgeSeconds() : site.ages().median(),
        idle ? judged.oldestSeconds() : site.ages().oldest(),
        room.share(grows ? live : judged.bytes().value()),
        toLimit,
        evidence,
        finding.standing().since(),
        uses.of(site.number(), false),
        uses.of(site.number(), true),
        acknowledged.test(site.name()));
  }

  /** Objects in slots; else whether those that are live could have been. */
  private static LeakEvidence evidence(Subject subject, Map<Integer, List<SampledObject>> objects) {
    if (!Double.isNaN(subject.judged().thresholdSeconds())) {
      return LeakEvidence.SLOTS;
    }
    return subject.sites().stream()
            .flatMap(site -> objects.getOrDefault(site.number(), List.of()).stream())
            .anyMatch(object -> object.bytes() <= LeakThresholds.LARGEST_PLACED_BYTES)
        ? LeakEvidence.AGES
        : LeakEvidence.NONE;
  }

  private static List<Finding> fewHealthy(List<Finding> findings) {
    List<Finding> sorted = new ArrayList<>(findings);
    sorted.sort(WORST_FIRST);
    List<Finding> few = new ArrayList<>();
    int healthy = 0;
    for (Finding finding : sorted) {
      healthy += finding.verdict() == Verdict.HEALTHY ? 1 : 0;
      if (healthy <= MOST_HEALTHY) {
        few.add(finding);
      }
    }
    return few;
  }
}
