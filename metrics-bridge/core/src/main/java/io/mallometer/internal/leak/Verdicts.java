package io.mallometer.internal.leak;

import io.mallometer.internal.history.KnownLeak;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.model.CallSite;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.SiteOrder;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.SiteVerdict.Garbage;
import io.mallometer.model.SiteVerdict.Grounds;
import io.mallometer.model.SiteVerdict.Growth;
import io.mallometer.model.SiteVerdict.Site;
import io.mallometer.model.SiteVerdict.Stack;
import io.mallometer.model.SiteVerdict.Suspected;
import io.mallometer.model.StackFrame;
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
 * The verdicts of one evaluation. Each allocation stack gets a verdict. Stacks with the same name
 * and library also get a verdict as a group; {@link LeakDetector} explains why.
 */
final class Verdicts {

  /** A report has at most this many healthy stacks: those with the most live bytes. */
  private static final int MOST_HEALTHY = 200;

  /**
   * The states that one evaluation passes to the next. A stack that has always been healthy has no
   * entry.
   *
   * @param stacks the states of single stacks, by the stack's number
   * @param names the states of stacks that are assessed together, by name and library
   */
  record States(
      Instant firstEvaluation,
      Map<Integer, SiteState> stacks,
      Map<List<String>, SiteState> names,
      Set<List<Object>> separateKinds) {

    static States none(Instant firstEvaluation) {
      return new States(firstEvaluation, new HashMap<>(), new HashMap<>(), new HashSet<>());
    }
  }

  record Past(RecentGrowth growth, LostMemory lost, WaitingGarbage garbage) {}

  /**
   * The stacks of one assessment, those with the most suspected bytes first. If the assessment
   * failed, {@code latest} is the assessment that was shown before.
   */
  private record AssessedStacks(
      List<CallSite> stacks, Assessment latest, boolean failed, SiteState state) {

    static final int WAITING = 4;
    static final int POOL = 5;

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

    /** Returns the bytes by which entries with the same verdict are ordered. */
    double weight() {
      double suspected = state.shown().suspected().bytes().value();
      boolean bySuspicion = verdict() != Verdict.GROWING && verdict() != Verdict.HEALTHY;
      return bySuspicion && !Double.isNaN(suspected) ? suspected : liveBytes();
    }

    /** Returns the rank of the verdict: 1 is the gravest; 0 means healthy. */
    int kind() {
      return switch (verdict()) {
        case LEAK -> state.shown().leakEvidence() == LeakEvidence.LOST ? 1 : 2;
        case UNUSED, GROWING -> 3;
        case WAITS_FOR_GC -> WAITING;
        case POOL -> POOL;
        case HEALTHY -> 0;
      };
    }

    static AssessedStacks sum(List<AssessedStacks> same) {
      same.sort(WORST_FIRST);
      AssessedStacks gravest = same.get(0);
      if (same.size() == 1) {
        return gravest;
      }
      Assessment sum = gravest.state().shown();
      List<CallSite> others = new ArrayList<>();
      for (AssessedStacks one : same) {
        others.addAll(one == gravest ? List.of() : one.stacks());
        sum = one == gravest ? sum : sum.plus(one.state().shown());
      }
      others.sort(SiteOrder.LIVE.comparator());
      others.addAll(0, gravest.stacks());
      SiteState state = gravest.state().confirmedBy(sum);
      return new AssessedStacks(others, gravest.latest(), gravest.failed(), state);
    }
  }

  private static final Comparator<AssessedStacks> WORST_FIRST =
      new Comparator<>() {
        @Override
        public int compare(AssessedStacks one, AssessedStacks other) {
          int byVerdict = one.verdict().compareTo(other.verdict());
          int byWeight = byVerdict != 0 ? byVerdict : Double.compare(other.weight(), one.weight());
          return byWeight != 0
              ? byWeight
              : Integer.compare(one.first().number(), other.first().number());
        }
      };

  private final Evidence evidence;
  private final SamplesBySite samples;
  private final ObservationWindow window;
  private final RecentGrowth growth;
  private final LostMemory lost;
  private final WaitingGarbage garbage;
  private final KnownLeaks known;
  private final States before;
  private final boolean hasNewEpoch;
  private final Instant time;

  private final SiteState unseen;

  private final States states;
  private final List<AssessedStacks> suspicious = new ArrayList<>();

  /** The healthy stacks of the report. The head is the stack with the fewest live bytes. */
  private final PriorityQueue<AssessedStacks> healthy = new PriorityQueue<>(WORST_FIRST.reversed());

  /**
   * The stacks for {@link #remember}: those that are not healthy by themselves, or that are part of
   * a verdict on several stacks.
   */
  private final List<AssessedStacks> toRemember = new ArrayList<>();

  private final Map<List<String>, List<CallSite>> names = new HashMap<>();

  /**
   * The call sites that are no leaks, grouped by name. {@link #names} groups by name and library
   * instead.
   */
  private final Map<String, List<CallSite>> withoutLeaks = new HashMap<>();

  private final Map<Integer, List<Integer>> stacks = new HashMap<>();
  private @Nullable RuntimeException failure;

  /**
   * Begins an evaluation.
   *
   * @param hasNewEpoch whether accesses were read again since the previous evaluation
   */
  Verdicts(
      Evidence evidence,
      ObservationWindow window,
      Past past,
      KnownLeaks known,
      States before,
      boolean hasNewEpoch,
      Instant time) {
    this.evidence = evidence;
    this.samples = past.growth().latestSamples();
    this.window = window;
    this.growth = past.growth();
    this.lost = past.lost();
    this.garbage = past.garbage();
    this.known = known;
    this.before = before;
    this.hasNewEpoch = hasNewEpoch;
    this.time = time;
    this.unseen = SiteState.of(Assessment.UNSEEN, before.firstEvaluation());
    this.states = States.none(before.firstEvaluation());
  }

  States states() {
    return states;
  }

  Optional<RuntimeException> failure() {
    return Optional.ofNullable(failure);
  }

  private void noteFailure(RuntimeException e) {
    failure = failure == null ? e : failure;
  }

  // ---- Assessing single stacks, and groups of stacks with the same name

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
    boolean becameLeak = false;
    List<AssessedStacks> alone = new ArrayList<>(sites.size());
    List<AssessedStacks> members = new ArrayList<>();
    List<CallSite> rest = new ArrayList<>();
    for (CallSite site : sites) {
      if (holdsNothing(site) && (earlier == null || !earlier.isLeak())) {
        storeState(stateBefore(site.number()).confirmedBy(Assessment.UNSEEN), site.number());
        rest.add(site);
        continue;
      }
      AssessedStacks one = assessAlone(site);
      alone.add(one);
      if (!one.state().isLeak()) {
        members.add(one);
        rest.add(site);
      }
      becameLeak |= one.state().isLeak() && !stateBefore(site.number()).isLeak();
    }
    withoutLeaks.computeIfAbsent(name.get(0), key -> new ArrayList<>()).addAll(rest);
    int sampled = 0;
    for (AssessedStacks one : members) {
      sampled += samples.has(one.first().number()) ? 1 : 0;
    }
    boolean several = sampled > 1 || earlier != null && !members.isEmpty();
    @Nullable AssessedStacks all = several ? assessTogether(name, rest, members, becameLeak) : null;
    boolean wasTogether = earlier != null && earlier.verdict() != Verdict.HEALTHY;
    Set<Integer> inGroup = all == null ? Set.of() : new HashSet<>(numbers(all.stacks()));
    for (AssessedStacks one : alone) {
      boolean isInGroup = inGroup.contains(one.first().number());
      storeState(
          isInGroup || wasTogether ? one.state().healthySince(time) : one.state(),
          one.first().number());
      if (isInGroup || one.verdict() != Verdict.HEALTHY) {
        toRemember.add(one);
      }
      if (!isInGroup) {
        add(one);
      }
    }
    if (all != null) {
      suspicious.add(all);
    }
  }

  /**
   * Returns whether a stack has no live memory and was not suspicious before. This is so for half
   * of the stacks of most programs.
   */
  private boolean holdsNothing(CallSite site) {
    return !(site.liveBytes().value() > 0)
        && !samples.has(site.number())
        && stateBefore(site.number()).verdict() == Verdict.HEALTHY;
  }

  private SiteState stateBefore(int number) {
    SiteState known = before.stacks().isEmpty() ? null : before.stacks().get(number);
    return known == null ? unseen : known;
  }

  private void storeState(SiteState state, int number) {
    if (!state.isHealthySince(before.firstEvaluation())) {
      states.stacks().put(number, state);
    }
  }

  private AssessedStacks assessAlone(CallSite site) {
    SiteState earlier = stateBefore(site.number());
    AssessedStacks one = assessed(List.of(site), earlier, () -> assessment(site));
    if (earlier.isLeak() && !one.state().isLeak()) {
      known.refute(site);
    }
    return one;
  }

  private AssessedStacks assessed(
      List<CallSite> stacks, SiteState earlier, Supplier<Assessment> assessment) {
    try {
      Assessment latest = assessment.get();
      boolean counts = hasNewEpoch || isOfGrowth(earlier.verdict(), latest.verdict());
      SiteState state = counts ? earlier.after(latest, time) : earlier.ignoring(latest);
      return new AssessedStacks(stacks, latest, false, state);
    } catch (RuntimeException e) {
      noteFailure(e);
      return new AssessedStacks(stacks, earlier.shown(), true, earlier);
    }
  }

  /**
   * Returns whether a verdict changes between healthy and growing. Growth is judged by live
   * samples, so this change need not wait for the next reading of accesses.
   */
  private static boolean isOfGrowth(Verdict before, Verdict now) {
    return before == Verdict.GROWING && now == Verdict.HEALTHY
        || before == Verdict.HEALTHY && now == Verdict.GROWING;
  }

  /**
   * Assesses stacks with the same name and library together. Returns null if they are to be
   * reported one by one.
   *
   * @param sites the stacks that are no leaks by themselves
   * @param members the assessments of those {@code sites} that hold memory
   * @param becameLeak whether a stack with this name became a leak in this evaluation
   */
  private @Nullable AssessedStacks assessTogether(
      List<String> name, List<CallSite> sites, List<AssessedStacks> members, boolean becameLeak) {
    SiteState newState = SiteState.of(Assessment.UNSEEN, time);
    SiteState earlier = before.names().getOrDefault(name, newState);
    AssessedStacks all = assessed(sites, earlier, () -> assessment(sites, members));
    Assessment latest = all.latest();
    boolean stays = !becameLeak || earlier.isLeak() && latest.verdict() == Verdict.LEAK;
    SiteState state = stays ? all.state() : newState.after(latest, time);
    Verdict verdict = state.verdict();
    if (verdict == Verdict.HEALTHY && state.agreements() == 0) {
      return null;
    }
    states.names().put(name, state);
    if (verdict == Verdict.HEALTHY) {
      return null;
    }
    List<AssessedStacks> milder = new ArrayList<>(members);
    milder.removeIf(one -> one.verdict().compareTo(verdict) < 0);
    if (milder.size() < members.size() && !all.failed()) {
      latest = milder.isEmpty() ? Assessment.UNSEEN : assessment(sitesOf(milder), milder);
      if (latest.verdict() != verdict) {
        return null;
      }
      state = state.confirmedBy(latest);
    }
    Instant since = state.since();
    for (AssessedStacks one : milder) {
      Instant other = one.state().since();
      since = one.verdict() == verdict && other.isBefore(since) ? other : since;
    }
    List<CallSite> first = mostSuspectedFirst(milder, state);
    return new AssessedStacks(first, latest, all.failed(), state.since(since));
  }

  /**
   * Returns the stacks with suspected objects, ordered by suspected bytes, most first. Also returns
   * growing stacks, unless the verdict is leak. If no stack has suspected objects, returns all
   * stacks, ordered by live bytes, most first.
   */
  private List<CallSite> mostSuspectedFirst(List<AssessedStacks> members, SiteState state) {
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
    List<AssessedStacks> suspected = new ArrayList<>(members);
    boolean byLive = bytes.isEmpty();
    suspected.removeIf(
        one ->
            !byLive
                && !bytes.containsKey(one.first().number())
                && (state.isLeak() || one.verdict() != Verdict.GROWING));
    suspected.sort(
        Comparator.comparingDouble(
                (AssessedStacks one) ->
                    -bytes.getOrDefault(one.first().number(), byLive ? one.liveBytes() : 0))
            .thenComparing(one -> one.first().number()));
    return sitesOf(suspected);
  }

  private static List<CallSite> sitesOf(List<AssessedStacks> members) {
    return members.stream().map(AssessedStacks::first).toList();
  }

  private void add(AssessedStacks one) {
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

  // ---- Making one assessment

  private Assessment assessment(CallSite site) {
    int number = site.number();
    Assessment used = assessUse(List.of(site));
    Assessment grown =
        growth.increaseOf(List.of(number), samples.of(number)).map(used::withIncrease).orElse(used);
    @Nullable LostObjects proof = lost.lostOf(number);
    boolean isLost =
        proof != null
            && (grown.verdict() != Verdict.HEALTHY
                || stateBefore(number).isLeak()
                || isPartOfSuspect(site));
    return isLost
        ? grown.withLostObjects(proof, suspectedLost(proof, grown.suspected(), site))
        : knownFrom(waiting(grown, List.of(number), stateBefore(number).verdict()), site);
  }

  private Assessment waiting(Assessment assessment, List<Integer> sites, Verdict earlier) {
    boolean suspect = assessment.verdict().compareTo(Verdict.GROWING) <= 0;
    return garbage.waits(sites, suspect, earlier == Verdict.WAITS_FOR_GC)
        ? assessment.asWaiting()
        : assessment;
  }

  /**
   * Returns whether the group of all stacks with this site's name and library was a suspect at the
   * previous evaluation, and has lost {@link LeakThresholds#LEAST_BYTES} or more in total. A single
   * stack may have lost less.
   */
  private boolean isPartOfSuspect(CallSite site) {
    @Nullable SiteState together = before.names().get(name(site));
    double bytes = 0;
    for (CallSite stack : names.getOrDefault(name(site), List.of())) {
      @Nullable LostObjects proof = lost.lostOf(stack.number());
      bytes += proof == null ? 0 : proof.bytes().times(stack.liveBytes()).value();
    }
    return together != null
        && together.verdict().compareTo(Verdict.GROWING) <= 0
        && bytes >= LeakThresholds.LEAST_BYTES;
  }

  private Suspected suspectedLost(LostObjects proof, Suspected idle, CallSite site) {
    List<SampledObject> old =
        LeakTest.observable(samples.of(site.number()), window, idle.thresholdSeconds());
    return proof.suspected(site, idle, LeakTest.bytes(old), LeakTest.objects(old));
  }

  private Assessment knownFrom(Assessment assessment, CallSite site) {
    boolean again =
        assessment.verdict() == Verdict.UNUSED
            && assessment.increase() != null
            && !assessment.refutesLeak()
            && assessment.idle().longestSeconds()
                >= LeakThresholds.KNOWN_UNUSED_SECONDS / window.times().scale();
    @Nullable KnownLeak earlier = again ? known.of(site.frames()) : null;
    return earlier == null ? assessment : assessment.asKnownLeak(earlier);
  }

  /**
   * Assesses stacks with the same name and library together. The past accesses of a stack count
   * even if the stack has no live objects any more.
   */
  private Assessment assessment(List<CallSite> sites, List<AssessedStacks> members) {
    for (AssessedStacks one : members) {
      if (one.failed()) {
        throw new IllegalStateException("a stack of " + one.first().name() + " cannot be assessed");
      }
    }
    List<CallSite> known = new ArrayList<>(sites);
    known.removeIf(site -> !evidence.sites().containsKey(site.number()));
    Assessment used = assessUse(known);
    List<SampledObject> live = samplesOf(sites);
    Assessment grown =
        growth
            .increaseOf(numbers(sites), live)
            .filter(increase -> AllocationTrend.arriveRepeatedly(live, evidence.nanos()))
            .map(used::withIncrease)
            .orElse(used);
    @Nullable SiteState earlier = sites.isEmpty() ? null : before.names().get(name(sites.get(0)));
    return waiting(grown, numbers(sites), earlier == null ? Verdict.HEALTHY : earlier.verdict());
  }

  /**
   * Judges the stacks by the accesses to their objects. Returns {@link Assessment#UNSEEN} if the
   * library's record of past accesses lacks one or more of the stacks.
   */
  private Assessment assessUse(List<CallSite> sites) {
    if (!evidence.observation().hasSeen()) {
      return Assessment.UNSEEN;
    }
    List<CallSite> observed = new ArrayList<>(sites);
    observed.removeIf(site -> !samples.anyInSlot(site.number()));
    if (observed.isEmpty()) {
      return Assessment.NONE_LEFT;
    }
    SiteUse use = SiteUse.NONE;
    for (CallSite site : sites) {
      @Nullable SiteUse known = evidence.sites().get(site.number());
      if (known == null) {
        return Assessment.UNSEEN;
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

  /**
   * Updates the known leaks by the states of single stacks. The state of several stacks together
   * has no influence.
   */
  void remember(Predicate<String> acknowledged) {
    toRemember.addAll(healthy);
    for (AssessedStacks one : toRemember) {
      try {
        known.learn(one.first(), one.state(), acknowledged, time, window.times());
      } catch (RuntimeException e) {
        noteFailure(e);
      }
    }
  }

  // ---- Making the verdicts of the report

  List<SiteVerdict> verdicts(
      List<SiteVerdict> latest, LatestAccesses uses, Predicate<String> acknowledged) {
    List<SiteVerdict> verdicts = new ArrayList<>();
    for (AssessedStacks one : worstFirst()) {
      int number = one.first().number();
      if (one.stacks().size() > 1) {
        stacks.put(number, numbers(one.stacks()));
      }
      try {
        verdicts.add(verdict(one, uses, acknowledged));
      } catch (RuntimeException e) {
        noteFailure(e);
        latest.stream()
            .filter(
                earlier -> earlier.site().number() == number && earlier.verdict() == one.verdict())
            .forEach(verdicts::add);
      }
    }
    verdicts.sort(GROWING_FIRST);
    return List.copyOf(verdicts);
  }

  private List<AssessedStacks> worstFirst() {
    List<AssessedStacks> all = new ArrayList<>(healthy);
    Map<List<String>, Map<Integer, List<AssessedStacks>>> names = new HashMap<>();
    for (AssessedStacks one : suspicious) {
      names
          .computeIfAbsent(name(one.first()), name -> new TreeMap<>())
          .computeIfAbsent(one.kind(), kind -> new ArrayList<>())
          .add(one);
    }
    names.forEach((name, kinds) -> all.addAll(combinedByKind(name, kinds)));
    all.sort(WORST_FIRST);
    return all;
  }

  /**
   * Combines the suspects with the same name and library into one entry, or a few.
   *
   * <p>A milder kind of suspect gets its own entry once it has more bytes than the graver kind, so
   * that neither kind hides the other. The milder kind loses its entry when it has less than half
   * of the graver kind's bytes. Pools and memory that waits for a collection always have entries of
   * their own.
   */
  private List<AssessedStacks> combinedByKind(
      List<String> name, Map<Integer, List<AssessedStacks>> kinds) {
    List<AssessedStacks> combined = new ArrayList<>();
    kinds.forEach(
        (kind, some) -> {
          AssessedStacks sum = AssessedStacks.sum(some);
          int last = combined.size() - 1;
          List<Object> part = List.of(name, kind);
          double least = before.separateKinds().contains(part) ? 0.5 : 1;
          if (last < 0) {
            combined.add(sum);
          } else if (kind >= AssessedStacks.WAITING
              || sum.weight() > least * combined.get(last).weight()) {
            combined.add(sum);
            states.separateKinds().add(part);
          } else {
            combined.set(
                last, AssessedStacks.sum(new ArrayList<>(List.of(combined.get(last), sum))));
          }
        });
    return combined;
  }

  /**
   * Returns the memory that waits for a garbage collection, by name. All stacks with the same name
   * are evaluated together, because together they have enough samples earlier than each stack
   * alone.
   */
  Map<String, Garbage> garbageByName() {
    Map<String, Garbage> known = new HashMap<>();
    withoutLeaks.forEach(
        (name, sites) -> {
          Garbage found = garbageOf(sites);
          if (found.answer() != GarbageAnswer.NONE) {
            known.put(name, found);
          }
        });
    return known;
  }

  /**
   * Returns the numbers of all stacks of a verdict, by the number of its first stack. Leaves out
   * verdicts on one stack.
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

  private SiteVerdict verdict(
      AssessedStacks one, LatestAccesses uses, Predicate<String> acknowledged) {
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
    Garbage waiting = garbageOf(one.stacks());
    boolean isTold = verdict != Verdict.HEALTHY || waiting.isFreedByCollections();
    String words = isTold ? garbage.words(waiting) : "";
    return new SiteVerdict(
        verdict,
        one.state().since(),
        Sentence.of(
                verdict,
                Sentence.siteText(site.name(), site.frames()),
                shown,
                growth,
                growth.stopped().map(end -> oldestBirthBefore(end, one.stacks())).orElse(null),
                evidence != LeakEvidence.AGES && evidence != LeakEvidence.NONE,
                window.times())
            + (words.isEmpty() ? "" : "; " + words),
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
            uses.of(site.number(), true),
            waiting),
        acknowledged.test(site.name()));
  }

  private Garbage garbageOf(List<CallSite> sites) {
    List<CallSite> held = sites.stream().filter(site -> samples.has(site.number())).toList();
    boolean forCleaner =
        !held.isEmpty() && held.stream().allMatch(site -> StackFrame.isForCleaner(site.frames()));
    return garbage.of(numbers(sites), forCleaner);
  }

  private static List<Stack> others(List<CallSite> sites) {
    List<Stack> stacks = new ArrayList<>();
    for (CallSite site : sites.subList(1, Math.min(1 + Site.MOST_OTHERS, sites.size()))) {
      stacks.add(new Stack(site.number(), site.liveBytes().value(), site.frames()));
    }
    return stacks;
  }

  private Growth growth(AssessedStacks one) {
    Assessment shown = one.state().shown();
    double live = one.liveBytes();
    return switch (one.verdict()) {
      case LEAK, UNUSED -> {
        GrowthRate rate = growth.rateOf(numbers(one.stacks()), samplesOf(one.stacks()));
        yield Double.isNaN(rate.bytesPerHour())
            ? new Growth(live, perHour(shown), Optional.empty())
            : new Growth(live, rate.bytesPerHour(), stopped(rate));
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

  private Optional<Instant> stopped(GrowthRate rate) {
    return rate.bytesPerHour() > 0 ? Optional.empty() : Optional.of(ago(rate.quietSeconds()));
  }

  /**
   * Returns the birth of the oldest live sample; null if any live sample was born after {@code
   * end}.
   */
  private @Nullable Instant oldestBirthBefore(Instant end, List<CallSite> sites) {
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

  /**
   * Returns the evidence for a verdict. A verdict other than {@code LEAK} rests on observed
   * accesses. If no object of the stacks was watched for accesses, it rests on the ages of objects
   * that are small enough for slots (pages of their own, where accesses are observed).
   */
  private LeakEvidence evidence(AssessedStacks one) {
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
