package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The verdicts of one evaluation: each stack is assessed by itself, and all stacks of a name
 * together, except those that are leaks by themselves. {@link LeakDetector} explains why.
 */
final class Verdicts {

  /** The most healthy stacks in a report: those with the most live bytes. */
  private static final int MOST_HEALTHY = 200;

  /**
   * The states that one evaluation passes to the next. Most stacks are healthy since the first
   * evaluation; they have no entry.
   *
   * @param begun the moment of the first evaluation
   * @param stacks the states of stacks, by number
   * @param names the states of all stacks of a name, by name and library
   * @param apart the kinds of suspects that are reported separately, by name
   */
  record States(
      Instant begun,
      Map<Integer, SiteState> stacks,
      Map<List<String>, SiteState> names,
      Set<List<Object>> apart) {

    static States none(Instant begun) {
      return new States(begun, new HashMap<>(), new HashMap<>(), new HashSet<>());
    }
  }

  /**
   * One stack, or several that are assessed together.
   *
   * @param stacks the stacks, the one with the most suspected bytes first
   * @param latest the assessment of this evaluation; if it failed, the one that is shown
   * @param failed whether it could not be assessed
   * @param state the state after this evaluation
   */
  private record Assessed(
      List<CallSite> stacks, Assessment latest, boolean failed, SiteState state) {

    static final int POOL = 4;

    CallSite first() {
      return stacks.get(0);
    }

    Verdict verdict() {
      return state.verdict();
    }

    double liveBytes() {
      double live = 0;
      for (CallSite stack : stacks) {
        live += stack.liveBytes().value();
      }
      return live;
    }

    /** Returns the bytes by which verdicts of one kind are ordered. */
    double weight() {
      double suspected = state.shown().suspected().bytes().value();
      boolean bySuspicion = verdict() != Verdict.GROWING && verdict() != Verdict.HEALTHY;
      return bySuspicion && !Double.isNaN(suspected) ? suspected : liveBytes();
    }

    /**
     * Returns the kind of a verdict, the gravest first: lost memory, another leak, another suspect,
     * a pool; 0 for healthy stacks.
     */
    int kind() {
      return switch (verdict()) {
        case LEAK -> state.shown().leakEvidence() == LeakEvidence.LOST ? 1 : 2;
        case UNUSED, GROWING -> 3;
        case POOL -> POOL;
        case HEALTHY -> 0;
      };
    }

    /** Returns the sum of stacks of one name and kind: the gravest is first and has the state. */
    static Assessed sum(List<Assessed> same) {
      same.sort(WORST_FIRST);
      Assessed gravest = same.get(0);
      if (same.size() == 1) {
        return gravest;
      }
      Assessment sum = gravest.state().shown();
      List<CallSite> others = new ArrayList<>();
      for (Assessed one : same) {
        others.addAll(one == gravest ? List.of() : one.stacks());
        sum = one == gravest ? sum : sum.plus(one.state().shown());
      }
      others.sort(SiteOrder.LIVE.comparator());
      others.addAll(0, gravest.stacks());
      SiteState state = gravest.state().with(sum);
      return new Assessed(others, gravest.latest(), gravest.failed(), state);
    }
  }

  private static final Comparator<Assessed> WORST_FIRST =
      new Comparator<>() {
        @Override
        public int compare(Assessed one, Assessed other) {
          int byVerdict = one.verdict().compareTo(other.verdict());
          int byWeight = byVerdict != 0 ? byVerdict : Double.compare(other.weight(), one.weight());
          return byWeight != 0
              ? byWeight
              : Integer.compare(one.first().number(), other.first().number());
        }
      };

  private final Evidence evidence;
  private final SamplesBySite samples;
  private final Window window;
  private final RecentGrowth growth;
  private final LostMemory lost;
  private final KnownLeaks known;
  private final States before;
  private final boolean news;
  private final Instant time;

  private final SiteState unseen;

  private final States states;
  private final List<Assessed> suspicious = new ArrayList<>();

  /** The head is the stack with the fewest live bytes. */
  private final PriorityQueue<Assessed> healthy = new PriorityQueue<>(WORST_FIRST.reversed());

  /** Single stacks that are suspects, or part of a verdict on several. */
  private final List<Assessed> learned = new ArrayList<>();

  private final Map<List<String>, List<CallSite>> names = new HashMap<>();
  private final Map<Integer, List<Integer>> stacks = new HashMap<>();
  private @Nullable RuntimeException failure;

  /**
   * Begins an evaluation.
   *
   * @param before the states after the evaluation before
   * @param news whether a valid epoch ended since
   */
  Verdicts(
      Evidence evidence,
      SamplesBySite samples,
      Window window,
      RecentGrowth growth,
      LostMemory lost,
      KnownLeaks known,
      States before,
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
    this.unseen = SiteState.of(Assessment.unseen(), before.begun());
    this.states = States.none(before.begun());
  }

  /** Returns the states after this evaluation. */
  States states() {
    return states;
  }

  /** Returns the first failure. */
  Optional<RuntimeException> failure() {
    return Optional.ofNullable(failure);
  }

  private void note(RuntimeException e) {
    failure = failure == null ? e : failure;
  }

  // ---- Groups of stacks

  void assess(List<CallSite> sites) {
    for (CallSite site : sites) {
      names.computeIfAbsent(name(site), name -> new ArrayList<>()).add(site);
    }
    names.forEach(this::assess);
  }

  private static List<String> name(CallSite site) {
    return List.of(site.name(), site.library());
  }

  private void assess(List<String> name, List<CallSite> sites) {
    @Nullable SiteState earlier = before.names().get(name);
    boolean left = false;
    List<Assessed> alone = new ArrayList<>(sites.size());
    List<Assessed> members = new ArrayList<>();
    List<CallSite> rest = new ArrayList<>();
    for (CallSite site : sites) {
      if (holdsNothing(site) && (earlier == null || !earlier.isLeak())) {
        put(before(site.number()).with(Assessment.unseen()), site.number());
        rest.add(site);
        continue;
      }
      Assessed one = alone(site);
      alone.add(one);
      if (!one.state().isLeak()) {
        members.add(one);
        rest.add(site);
      }
      left |= one.state().isLeak() && !before(site.number()).isLeak();
    }
    int sampled = 0;
    for (Assessed one : members) {
      sampled += samples.has(one.first().number()) ? 1 : 0;
    }
    boolean several = sampled > 1 || earlier != null && !members.isEmpty();
    @Nullable Assessed all = several ? together(name, rest, members, left) : null;
    boolean wasTogether = earlier != null && earlier.verdict() != Verdict.HEALTHY;
    Set<Integer> told = all == null ? Set.of() : new HashSet<>(numbers(all.stacks()));
    for (Assessed one : alone) {
      boolean isTold = told.contains(one.first().number());
      put(
          isTold || wasTogether ? one.state().healthySince(time) : one.state(),
          one.first().number());
      if (isTold || one.verdict() != Verdict.HEALTHY) {
        learned.add(one);
      }
      if (!isTold) {
        add(one);
      }
    }
    if (all != null) {
      suspicious.add(all);
    }
  }

  /**
   * Returns whether a stack has no live memory and was not suspicious before: half of the stacks of
   * most programs.
   */
  private boolean holdsNothing(CallSite site) {
    return !(site.liveBytes().value() > 0)
        && !samples.has(site.number())
        && before(site.number()).verdict() == Verdict.HEALTHY;
  }

  private SiteState before(int number) {
    SiteState known = before.stacks().isEmpty() ? null : before.stacks().get(number);
    return known == null ? unseen : known;
  }

  private void put(SiteState state, int number) {
    if (!state.isHealthySince(before.begun())) {
      states.stacks().put(number, state);
    }
  }

  private Assessed alone(CallSite site) {
    SiteState earlier = before(site.number());
    Assessed one = assessed(List.of(site), earlier, () -> assessment(site));
    if (earlier.isLeak() && !one.state().isLeak()) {
      known.refute(site);
    }
    return one;
  }

  private Assessed assessed(
      List<CallSite> stacks, SiteState earlier, Supplier<Assessment> assessment) {
    try {
      Assessment latest = assessment.get();
      boolean counts = news || isOfGrowth(earlier.verdict(), latest.verdict());
      SiteState state = counts ? earlier.after(latest, time) : earlier.beside(latest);
      return new Assessed(stacks, latest, false, state);
    } catch (RuntimeException e) {
      note(e);
      return new Assessed(stacks, earlier.shown(), true, earlier);
    }
  }

  /** Returns whether a verdict changes to or from growing, which needs no epochs. */
  private static boolean isOfGrowth(Verdict before, Verdict now) {
    return before == Verdict.GROWING && now == Verdict.HEALTHY
        || before == Verdict.HEALTHY && now == Verdict.GROWING;
  }

  /**
   * Assesses the stacks of a name together. Returns null if the stacks are reported one by one:
   * they are healthy together, or one of them has a graver verdict.
   *
   * @param sites the stacks that are no leak by themselves
   * @param members those of them that hold something
   * @param left whether one has just become a leak by itself, so that it is no member any more
   */
  private @Nullable Assessed together(
      List<String> name, List<CallSite> sites, List<Assessed> members, boolean left) {
    SiteState fresh = SiteState.of(Assessment.unseen(), time);
    SiteState earlier = before.names().getOrDefault(name, fresh);
    Assessed all = assessed(sites, earlier, () -> assessment(sites, members));
    Assessment latest = all.latest();
    boolean stays = !left || earlier.isLeak() && latest.verdict() == Verdict.LEAK;
    SiteState state = stays ? all.state() : fresh.after(latest, time);
    Verdict verdict = state.verdict();
    if (verdict == Verdict.HEALTHY && state.agreeing() == 0) {
      return null;
    }
    states.names().put(name, state);
    if (verdict == Verdict.HEALTHY) {
      return null;
    }
    List<Assessed> milder = new ArrayList<>(members);
    milder.removeIf(one -> one.verdict().compareTo(verdict) < 0);
    if (milder.size() < members.size() && !all.failed()) {
      latest = milder.isEmpty() ? Assessment.unseen() : assessment(sitesOf(milder), milder);
      if (latest.verdict() != verdict) {
        return null;
      }
      state = state.with(latest);
    }
    Instant since = state.since();
    for (Assessed one : milder) {
      Instant other = one.state().since();
      since = one.verdict() == verdict && other.isBefore(since) ? other : since;
    }
    List<CallSite> first = mostSuspectedFirst(milder, state);
    return new Assessed(first, latest, all.failed(), state.since(since));
  }

  /**
   * Returns the stacks that have suspected objects; all of them while no such object is seen. Of a
   * leak, such an object has outlasted the longest timeout. Unused memory has also the stacks that
   * grow, because both are one suspect.
   */
  private List<CallSite> mostSuspectedFirst(List<Assessed> members, SiteState state) {
    double least =
        Math.max(
            state.shown().suspected().thresholdSeconds(),
            state.isLeak() ? window.times().longestTimeoutSeconds() : 0);
    Map<Integer, Double> bytes = new HashMap<>();
    if (state.verdict() != Verdict.GROWING) {
      for (SampledObject object : samplesOf(sitesOf(members))) {
        if (object.inSlot() && window.idleSeconds(object) > least) {
          bytes.merge(object.site(), object.slotWeight() * object.bytes(), Double::sum);
        }
      }
    }
    List<Assessed> suspected = new ArrayList<>(members);
    boolean byLive = bytes.isEmpty();
    suspected.removeIf(
        one ->
            !byLive
                && !bytes.containsKey(one.first().number())
                && (state.isLeak() || one.verdict() != Verdict.GROWING));
    suspected.sort(
        Comparator.comparingDouble(
                (Assessed one) ->
                    -bytes.getOrDefault(one.first().number(), byLive ? one.liveBytes() : 0))
            .thenComparing(one -> one.first().number()));
    return sitesOf(suspected);
  }

  private static List<CallSite> sitesOf(List<Assessed> members) {
    return members.stream().map(Assessed::first).toList();
  }

  private void add(Assessed one) {
    if (one.verdict() != Verdict.HEALTHY) {
      suspicious.add(one);
    } else if (healthy.size() < MOST_HEALTHY
        || !(one.liveBytes() < healthy.element().liveBytes())) {
      healthy.add(one);
      if (healthy.size() > MOST_HEALTHY) {
        healthy.remove();
      }
    }
  }

  // ---- Assessments

  private Assessment assessment(CallSite site) {
    int number = site.number();
    Assessment used = ofUse(List.of(site));
    Assessment grown =
        growth.of(List.of(number), samples.of(number)).map(used::growing).orElse(used);
    @Nullable Lost proof = lost.of(number);
    boolean isLost =
        proof != null
            && (grown.verdict() != Verdict.HEALTHY
                || before(number).isLeak()
                || isPartOfSuspect(site));
    return isLost
        ? grown.losing(proof, lost(proof, grown.suspected(), site))
        : knownFrom(grown, site);
  }

  /**
   * Returns whether a lost stack may hold too little by itself, but not with the others of its name
   * that are lost.
   */
  private boolean isPartOfSuspect(CallSite site) {
    @Nullable SiteState together = before.names().get(name(site));
    double bytes = 0;
    for (CallSite stack : names.getOrDefault(name(site), List.of())) {
      @Nullable Lost proof = lost.of(stack.number());
      bytes += proof == null ? 0 : proof.bytes().times(stack.liveBytes()).value();
    }
    return together != null
        && together.verdict().compareTo(Verdict.GROWING) <= 0
        && bytes >= LeakThresholds.LEAST_BYTES;
  }

  private Suspected lost(Lost proof, Suspected idle, CallSite site) {
    List<SampledObject> old =
        LeakTest.observable(samples.of(site.number()), window, idle.thresholdSeconds());
    return proof.of(site, idle, LeakTest.bytes(old), LeakTest.objects(old));
  }

  /** Returns a known leak if a stack that leaked before is unused long enough and grows. */
  private Assessment knownFrom(Assessment assessment, CallSite site) {
    boolean again =
        assessment.verdict() == Verdict.UNUSED
            && assessment.increase() != null
            && !assessment.refutesLeak()
            && assessment.idle().longestSeconds()
                >= LeakThresholds.KNOWN_SECONDS / window.times().scale();
    @Nullable KnownLeak earlier = again ? known.of(site.frames()) : null;
    return earlier == null ? assessment : assessment.knownFrom(earlier);
  }

  /**
   * Assesses the stacks of a name together. Of stacks without an object in a slot, only the past
   * use counts, also if they hold nothing.
   */
  private Assessment assessment(List<CallSite> sites, List<Assessed> members) {
    for (Assessed one : members) {
      if (one.failed()) {
        throw new IllegalStateException("a stack of " + one.first().name() + " cannot be assessed");
      }
    }
    List<CallSite> known = new ArrayList<>(sites);
    known.removeIf(site -> !evidence.sites().containsKey(site.number()));
    Assessment used = ofUse(known);
    List<SampledObject> live = samplesOf(sites);
    return growth
        .of(numbers(sites), live)
        .filter(increase -> Arrivals.recur(live, evidence.nanos()))
        .map(used::growing)
        .orElse(used);
  }

  /**
   * Assesses the use of objects. The library has evidence of a limited number of sites. Without
   * evidence of a site's freed objects, idle ones say too little.
   */
  private Assessment ofUse(List<CallSite> sites) {
    if (!evidence.observation().hasSeen()) {
      return Assessment.unseen();
    }
    List<CallSite> observed = new ArrayList<>(sites);
    observed.removeIf(site -> !samples.anyInSlot(site.number()));
    if (observed.isEmpty()) {
      return Assessment.noneLeft();
    }
    SiteUse use = SiteUse.NONE;
    for (CallSite site : sites) {
      @Nullable SiteUse known = evidence.sites().get(site.number());
      if (known == null) {
        return Assessment.unseen();
      }
      use = use.plus(known);
    }
    return LeakTest.judge(samplesOf(observed), use, window);
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

  /** Has the known leaks learn from the stacks in the report, each by itself. */
  void remember(Predicate<String> acknowledged) {
    learned.addAll(healthy);
    for (Assessed one : learned) {
      try {
        known.learn(one.first(), one.state(), acknowledged, time, window.times());
      } catch (RuntimeException e) {
        note(e);
      }
    }
  }

  // ---- Verdicts

  /**
   * Returns the verdicts, worst first.
   *
   * @param latest the verdicts of the evaluation before, for stacks without a result
   */
  List<SiteVerdict> verdicts(
      List<SiteVerdict> latest, LastUses uses, Predicate<String> acknowledged) {
    List<SiteVerdict> verdicts = new ArrayList<>();
    for (Assessed one : worstFirst()) {
      int number = one.first().number();
      if (one.stacks().size() > 1) {
        stacks.put(number, numbers(one.stacks()));
      }
      try {
        verdicts.add(verdict(one, uses, acknowledged));
      } catch (RuntimeException e) {
        note(e);
        latest.stream()
            .filter(told -> told.site().number() == number && told.verdict() == one.verdict())
            .forEach(verdicts::add);
      }
    }
    verdicts.sort(GROWING_FIRST); // stable
    return List.copyOf(verdicts);
  }

  private List<Assessed> worstFirst() {
    List<Assessed> all = new ArrayList<>(healthy);
    Map<List<String>, Map<Integer, List<Assessed>>> names = new HashMap<>();
    for (Assessed one : suspicious) {
      names
          .computeIfAbsent(name(one.first()), name -> new TreeMap<>())
          .computeIfAbsent(one.kind(), kind -> new ArrayList<>())
          .add(one);
    }
    names.forEach((name, kinds) -> all.addAll(told(name, kinds)));
    all.sort(WORST_FIRST);
    return all;
  }

  /**
   * Returns the suspects of a name as one. A milder kind that has more bytes than the graver ones
   * is reported separately, so that neither hides the other, until it has less than half as many.
   * So is a pool.
   *
   * @param kinds the suspects by kind, gravest first
   */
  private List<Assessed> told(List<String> name, Map<Integer, List<Assessed>> kinds) {
    List<Assessed> told = new ArrayList<>();
    kinds.forEach(
        (kind, some) -> {
          Assessed sum = Assessed.sum(some);
          int last = told.size() - 1;
          List<Object> part = List.of(name, kind);
          double least = before.apart().contains(part) ? 0.5 : 1;
          if (last < 0) {
            told.add(sum);
          } else if (kind == Assessed.POOL || sum.weight() > least * told.get(last).weight()) {
            told.add(sum);
            states.apart().add(part);
          } else {
            told.set(last, Assessed.sum(new ArrayList<>(List.of(told.get(last), sum))));
          }
        });
    return told;
  }

  /**
   * Returns the numbers of all stacks of a verdict, by the number of its first one. A verdict on
   * one stack has no entry.
   */
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
          boolean suspect = verdict.verdict().compareTo(Verdict.GROWING) <= 0;
          return !suspect ? 2 : verdict.grows() ? 0 : 1;
        }
      };

  private SiteVerdict verdict(Assessed one, LastUses uses, Predicate<String> acknowledged) {
    CallSite site = one.first();
    Assessment shown = one.state().shown();
    Verdict verdict = one.verdict();
    double most = 0;
    for (CallSite stack : one.stacks()) {
      most += stack.liveBytes().most();
    }
    Suspected suspected =
        (shown.idle().count() > 0 ? shown.suspected() : shown.suspected().withAges(site.ages()))
            .atMost(most);
    Growth growth = growth(one);
    LeakEvidence evidence = evidence(one);
    return new SiteVerdict(
        verdict,
        one.state().since(),
        Sentence.of(
            verdict,
            Sentence.who(site.name(), site.frames()),
            shown,
            growth,
            growth.stopped().map(end -> firstBy(end, one.stacks())).orElse(null),
            evidence != LeakEvidence.AGES && evidence != LeakEvidence.NONE,
            window.times()),
        new Site(
            site.name(),
            site.library(),
            site.number(),
            one.stacks().size(),
            site.frames(),
            others(one.stacks())),
        suspected,
        growth,
        new Grounds(
            evidence,
            evidence == LeakEvidence.OUTLASTED ? LeakThresholds.CONFIDENCE : Double.NaN,
            uses.of(site.number(), false),
            uses.of(site.number(), true)),
        acknowledged.test(site.name()));
  }

  private static List<Stack> others(List<CallSite> sites) {
    List<Stack> stacks = new ArrayList<>();
    for (CallSite site : sites.subList(1, Math.min(1 + Site.MOST_OTHERS, sites.size()))) {
      stacks.add(new Stack(site.number(), site.liveBytes().value(), site.frames()));
    }
    return stacks;
  }

  private Growth growth(Assessed one) {
    Assessment shown = one.state().shown();
    double live = one.liveBytes();
    return switch (one.verdict()) {
      case LEAK, UNUSED -> {
        Pace pace = growth.pace(numbers(one.stacks()), samplesOf(one.stacks()));
        yield Double.isNaN(pace.bytesPerHour())
            ? new Growth(live, perHour(shown), Optional.empty())
            : new Growth(live, pace.bytesPerHour(), stopped(pace));
      }
      case GROWING -> new Growth(live, perHour(shown), Optional.empty());
      default -> new Growth(live, Double.NaN, Optional.empty());
    };
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

  /** Returns the birth of the oldest live sample; null if one was born after {@code end}. */
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

  private static double perHour(Assessment shown) {
    @Nullable Increase increase = shown.increase();
    return increase == null ? Double.NaN : increase.bytesPerHour();
  }

  /** Returns the evidence: objects in slots, or live ones that could have been in one. */
  private LeakEvidence evidence(Assessed one) {
    if (one.verdict() == Verdict.LEAK) {
      return one.state().shown().leakEvidence();
    }
    if (!Double.isNaN(one.latest().suspected().thresholdSeconds())) {
      return LeakEvidence.SLOTS;
    }
    for (SampledObject object : samplesOf(one.stacks())) {
      if (object.bytes() <= LeakThresholds.LARGEST_PLACED_BYTES) {
        return LeakEvidence.AGES;
      }
    }
    return LeakEvidence.NONE;
  }
}
