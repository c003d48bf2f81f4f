package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.SearchedObject;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.internal.text.Log;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the call sites that lose memory. Most sampled objects of such a site are lost: their
 * addresses exist nowhere in the process, so no code can use or free them.
 *
 * <p>Garbage in the Java heap may contain addresses of lost objects, so objects from before the
 * latest collection are judged separately. A second search must confirm a loss, because a search
 * may miss an address that the program moves meanwhile.
 *
 * <p>A search begins when a site becomes unused, and each hour while memory is unused. A search
 * after a garbage collection has one of three reasons: memory of the old generation was freed, the
 * unused bytes have grown by a quarter, or the previous search found too few objects from before a
 * collection. All searches except the hourly ones stay within a budget of CPU time.
 */
final class LostMemory {

  private static final String JVM = "libjvm.so!";

  private static final String NOT_PROVED = "not proved: ";

  private final double scale;

  private Map<Integer, List<Integer>> stacks = Map.of();
  private @Nullable MemorySearch first;
  private boolean running;
  private String latestRefusal = "";
  private String resultText = NOT_PROVED + "no call site is unused";
  private Map<Integer, LostObjects> found = Map.of();
  private final Map<Integer, Set<Long>> lostObjects = new HashMap<>();

  // ---- A pair of searches: an object is lost only if neither search finds its address

  private List<Integer> searched = List.of();

  /**
   * Unused memory that is not proved lost: one list for each verdict, with the numbers of the
   * verdict's stacks.
   */
  private List<List<Integer>> unproved = List.of();

  private double unprovedBytes;

  /**
   * Whether a proof must wait for a garbage collection, because some call site has too few objects
   * that were allocated before the latest garbage collection.
   */
  private boolean awaitsCollection;

  /**
   * Whether garbage was collected since the latest pair of searches began. {@link #freedOld} tells
   * whether memory of the old generation was freed since then.
   */
  private boolean collected;

  private boolean freedOld;

  // ---- Garbage collections: objects from before the latest collection are judged separately

  private @Nullable GarbageCollections collections;
  private long collectionsNanos;

  /**
   * A time that is certainly before the latest garbage collection, because a reading of {@link
   * #collections} at this time did not count the collection yet. {@link #beforeWhole} is such a
   * time for the latest collection of the whole heap.
   */
  private long beforeCollection = Long.MIN_VALUE;

  private long beforeWhole = Long.MIN_VALUE;

  /**
   * The value of {@link #beforeCollection} when the latest pair of searches began. Objects that
   * were born before this time are also counted in {@link Count#collected}. {@link #provingNanos}
   * is the value of {@link #beforeWhole} at the same moment.
   */
  private long eligibleNanos = Long.MIN_VALUE;

  private long provingNanos = Long.MIN_VALUE;

  // ---- When to search again, and the CPU time left for it

  private boolean everSearched;
  private long nextNanos;
  private long repeatNanos;
  private double creditSeconds = LeakThresholds.SEARCH_CREDIT_SECONDS;
  private long creditNanos;
  private double costSeconds;

  LostMemory(double scale) {
    this.scale = scale;
  }

  /**
   * Sets the stacks of each verdict that covers several stacks.
   *
   * @param stacks the numbers of all stacks of a verdict, by the number of its first stack
   */
  void setStacks(Map<Integer, List<Integer>> stacks) {
    this.stacks = stacks;
  }

  @Nullable LostObjects lostOf(int site) {
    return found.get(site);
  }

  boolean isLost(LeakReport latest, int site) {
    return latest.sites().stream()
        .filter(verdict -> verdict.grounds().evidence() == LeakEvidence.LOST)
        .flatMap(verdict -> numbers(verdict.site().number()))
        .anyMatch(number -> number == site);
  }

  String resultText() {
    return resultText;
  }

  /**
   * Takes the result of a search that has ended, or begins a search that is due. Returns whether a
   * search has ended with a new result on lost objects.
   *
   * @param threads the number of threads of the process
   */
  boolean advance(
      NativeLibrary library,
      LeakReport latest,
      GarbageCollections now,
      int threads,
      long nowNanos) {
    note(now, nowNanos);
    if (running) {
      MemorySearch search = library.memorySearch();
      if (search.state() == MemorySearch.State.RUNNING) {
        return false;
      }
      running = false;
      Map<Integer, LostObjects> before = found;
      end(search, threads, nowNanos);
      return !found.equals(before);
    }
    if (everSearched && nowNanos - nextNanos < 0) {
      return false;
    }
    if (first != null) {
      begin(library, nowNanos);
    } else if (chooseSites(latest, nowNanos)) {
      if (nowNanos - repeatNanos >= 0 || isAffordable(nowNanos)) {
        eligibleNanos = beforeCollection;
        provingNanos = beforeWhole;
        collected = false;
        freedOld = false;
        repeatNanos = nowNanos + nanos(LeakThresholds.SEARCH_REPEAT_SECONDS);
        begin(library, nowNanos);
      } else {
        resultText = NOT_PROVED + "the next search waits for its share of processor time";
      }
    }
    return false;
  }

  /**
   * Stores the time of the previous call if garbage was collected since then. That time is
   * certainly before the collection.
   */
  private void note(GarbageCollections now, long nowNanos) {
    GarbageCollections before = collections;
    if (before != null && now.all() > before.all()) {
      beforeCollection = collectionsNanos;
      collected = true;
    }
    if (before != null && now.whole() > before.whole()) {
      beforeWhole = collectionsNanos;
    }
    freedOld |= before != null && now.oldBytes() < before.oldBytes();
    collections = now;
    collectionsNanos = nowNanos;
  }

  // ---- Beginning and ending a search

  /** Chooses the sites of a search. Returns false if no search is due. */
  private boolean chooseSites(LeakReport latest, long nowNanos) {
    List<List<Integer>> unused = new ArrayList<>();
    double bytes = 0;
    for (SiteVerdict site : latest.sites()) {
      List<Integer> numbers = numbers(site.site().number()).toList();
      if (isUnused(site) && mayBeLost(site) && numbers.stream().noneMatch(found::containsKey)) {
        unused.add(numbers);
        bytes += site.suspected().bytes().value();
      }
    }
    boolean repeats = nowNanos - repeatNanos >= 0;
    if (everSearched && !repeats && !isWorthwhile(unused, bytes)) {
      return false;
    }
    List<Integer> chosen = candidates(latest);
    if (chosen.isEmpty()) {
      return false;
    }
    searched = chosen;
    unproved = unused;
    unprovedBytes = bytes;
    return true;
  }

  private boolean isWorthwhile(List<List<Integer>> unused, double bytes) {
    Set<Integer> before = unproved.stream().flatMap(List::stream).collect(Collectors.toSet());
    boolean isNew = unused.stream().anyMatch(stacks -> stacks.stream().noneMatch(before::contains));
    boolean hasGrown = bytes >= LeakThresholds.SEARCH_GROWTH * unprovedBytes;
    return isNew || !unused.isEmpty() && collected && (freedOld || awaitsCollection || hasGrown);
  }

  /**
   * Returns whether enough CPU time was saved up for a pair of searches. The savings grow by a
   * thousandth of one processor's time, up to a maximum. The search that comes every hour needs no
   * savings.
   */
  private boolean isAffordable(long nowNanos) {
    double earned = LeakThresholds.SEARCH_SHARE * scale * (nowNanos - creditNanos) / 1e9;
    creditSeconds = Math.min(LeakThresholds.SEARCH_CREDIT_SECONDS, creditSeconds + earned);
    creditNanos = nowNanos;
    return creditSeconds >= 2 * costSeconds;
  }

  private void begin(NativeLibrary library, long nowNanos) {
    everSearched = true;
    String refusal = library.searchMemory(searched, LeakThresholds.SEARCHED_BYTES);
    running = refusal.isEmpty();
    if (!running) {
      giveUp(refusal);
    } else if (first == null) {
      resultText = NOT_PROVED + "a search is under way";
    }
  }

  private void giveUp(String reason) {
    if (!reason.equals(latestRefusal)) {
      latestRefusal = reason;
      Log.MALLOMETER.info("Lost memory is not searched for: " + reason);
    }
    resultText = NOT_PROVED + reason;
    first = null;
    nextNanos = repeatNanos;
  }

  private void end(MemorySearch search, int threads, long nowNanos) {
    nextNanos = nowNanos + nanos(LeakThresholds.SEARCH_PAUSE_SECONDS);
    costSeconds = search.effort().cpuSeconds();
    creditSeconds -= costSeconds;
    MemorySearch before = first;
    Optional<String> obstacle = obstacle(search);
    if (obstacle.isPresent()) {
      giveUp(obstacle.get());
      return;
    }
    Map<Integer, Count> counts = counts(before == null ? search : before, search);
    Map<Integer, LostObjects> proved = proved(counts, unreadThreads(before, search, threads));
    if (before == null && !found.keySet().containsAll(proved.keySet())) {
      first = search;
      resultText = NOT_PROVED + searched(search) + "; a second search must confirm it";
      return;
    }
    first = null;
    Map<Integer, LostObjects> lost = new HashMap<>(found);
    lost.keySet().removeIf(site -> isRefuted(site, search));
    if (before != null) {
      lost.putAll(proved);
      proved.keySet().forEach(site -> lostObjects.put(site, counts.get(site).lostObjects));
    }
    lostObjects.keySet().retainAll(lost.keySet());
    found = Map.copyOf(lost);
    setResult(search, counts);
  }

  /**
   * Returns whether a site does not lose memory after all. Of its objects that were judged lost and
   * that this search looked for, most were freed during the search, or their addresses were found.
   * Other objects do not count, because garbage may contain the addresses of young objects.
   */
  private boolean isRefuted(int site, MemorySearch search) {
    Set<Long> known = lostObjects.getOrDefault(site, Set.of());
    int balance = 0;
    for (SearchedObject object : search.objects()) {
      if (object.site() == site && known.contains(object.id())) {
        balance += object.lost() ? -1 : 1;
      }
    }
    return balance > 0;
  }

  private static int unreadThreads(
      @Nullable MemorySearch before, MemorySearch search, int threads) {
    int unread = Math.max(before == null ? 0 : before.unreadThreads(), search.unreadThreads());
    boolean known = search.unreadThreads() >= 0 && (before == null || before.unreadThreads() >= 0);
    return known ? Math.min(unread, threads) : threads;
  }

  // ---- Stating the result in words

  /**
   * Sets {@link #resultText}. The text "nothing is lost" requires that the whole heap was collected
   * before the search. Otherwise the addresses that were found may lie in garbage.
   */
  private void setResult(MemorySearch search, Map<Integer, Count> counts) {
    List<Count> open =
        unproved.stream()
            .filter(stacks -> stacks.stream().noneMatch(found::containsKey))
            .map(stacks -> Count.sum(stacks, counts))
            .toList();
    awaitsCollection = open.stream().anyMatch(Count::awaitsCollection);
    if (!found.isEmpty()) {
      resultText = searched(search) + " twice: " + lost(found.size());
    } else if (!open.isEmpty() && open.stream().allMatch(Count::provesNothingLost)) {
      resultText = searched(search) + " after a collection of the whole heap: nothing is lost";
    } else {
      resultText = NOT_PROVED + searched(search) + "; " + whyNotProved(open);
    }
  }

  private String whyNotProved(List<Count> open) {
    if (awaitsCollection) {
      return "no garbage was collected since unused objects were allocated";
    }
    if (open.stream().anyMatch(count -> count.collected.lost >= LeakThresholds.FEWEST_SEARCHED)) {
      return "objects without an address may be in registers of running threads";
    }
    return open.isEmpty() || open.stream().anyMatch(Count::hasTooFew)
        ? "too few objects of a call site are observed"
        : "garbage may have the addresses that were found, until the whole heap is collected";
  }

  private static String lost(int sites) {
    return sites == 1 ? "1 call site loses memory" : sites + " call sites lose memory";
  }

  private static String searched(MemorySearch search) {
    return "searched " + Sentence.bytes(search.coverage().searchedBytes());
  }

  // ---- Choosing sites, and counting found and lost objects

  private static Optional<String> obstacle(MemorySearch search) {
    if (search.state() != MemorySearch.State.DONE) {
      return Optional.of(search.reason());
    }
    if (search.coverage().swappedBytes() > 0) {
      return Optional.of(
          Sentence.bytes(search.coverage().swappedBytes()) + " of the process are swapped out");
    }
    double missed = search.coverage().residentBytes() - search.coverage().searchedBytes();
    return missed > LeakThresholds.UNSEARCHED_SHARE * search.coverage().residentBytes()
        ? Optional.of(
            "searched "
                + Sentence.bytes(search.coverage().searchedBytes())
                + " of "
                + Sentence.bytes(search.coverage().residentBytes())
                + ", too little for a conclusion")
        : Optional.empty();
  }

  /**
   * Returns the call sites whose objects a search looks for. Returns none if no site has the
   * verdict UNUSED. Suspects come first. Other sites follow, because they may become suspects long
   * before the next search.
   */
  private List<Integer> candidates(LeakReport latest) {
    List<SiteVerdict> possible =
        latest.sites().stream().filter(LostMemory::mayBeLost).collect(Collectors.toList());
    if (possible.stream().noneMatch(LostMemory::isUnused)) {
      return List.of();
    }
    possible.sort(
        Comparator.comparing(LostMemory::isSuspect)
            .thenComparingDouble(site -> site.growth().liveBytes())
            .reversed());
    return possible.stream()
        .flatMap(site -> numbers(site.site().number()))
        .distinct() // A verdict that was kept after a failure may list a site of another verdict.
        .limit(NativeLibrary.MOST_SEARCHED_SITES)
        .toList();
  }

  private Stream<Integer> numbers(int site) {
    return stacks.getOrDefault(site, List.of(site)).stream();
  }

  private static boolean isUnused(SiteVerdict site) {
    return site.verdict() == Verdict.UNUSED;
  }

  /**
   * Excludes acknowledged sites, and sites of HotSpot, which may store the addresses of its own
   * objects in an encoded form.
   */
  private static boolean mayBeLost(SiteVerdict site) {
    return !site.acknowledged() && !site.site().name().startsWith(JVM);
  }

  private static boolean isSuspect(SiteVerdict site) {
    return site.verdict().compareTo(Verdict.GROWING) <= 0;
  }

  private Map<Integer, Count> counts(MemorySearch first, MemorySearch second) {
    Map<Long, SearchedObject> before = new HashMap<>();
    first.objects().forEach(object -> before.put(object.id(), object));
    Map<Integer, Count> counts = new HashMap<>();
    for (SearchedObject object : second.objects()) {
      SearchedObject known = before.get(object.id());
      if (known != null && !object.freed()) {
        Count count = counts.computeIfAbsent(object.site(), site -> new Count());
        boolean isLost = known.lost() && object.lost();
        count.all.add(object, isLost);
        if (isLost) {
          count.lostObjects.add(object.id());
        }
        if (object.bornNanos() < eligibleNanos) {
          count.collected.add(object, isLost);
        }
        count.proving += object.bornNanos() < provingNanos ? 1 : 0;
      }
    }
    return counts;
  }

  private static Map<Integer, LostObjects> proved(Map<Integer, Count> counts, int unreadThreads) {
    Map<Integer, LostObjects> proved = new HashMap<>();
    counts.forEach(
        (site, count) -> {
          if (count.collected.proves(unreadThreads)) {
            proved.put(site, count.lost(count.collected));
          } else if (count.all.proves(unreadThreads)) {
            proved.put(site, count.lost(count.all));
          }
        });
    return proved;
  }

  private static final class Count {
    private final Sums all = new Sums();

    /**
     * The objects that are older than the last garbage collection before the searches: born before
     * {@link LostMemory#eligibleNanos}.
     */
    private final Sums collected = new Sums();

    /**
     * The number of objects that are older than the last collection of the whole heap before the
     * searches: born before {@link LostMemory#provingNanos}.
     */
    private int proving;

    private final Set<Long> lostObjects = new HashSet<>();

    static Count sum(List<Integer> stacks, Map<Integer, Count> counts) {
      Count sum = new Count();
      for (int stack : stacks) {
        Count count = counts.get(stack);
        if (count != null) {
          sum.all.searched += count.all.searched;
          sum.collected.searched += count.collected.searched;
          sum.collected.lost += count.collected.lost;
          sum.proving += count.proving;
        }
      }
      return sum;
    }

    boolean hasTooFew() {
      return all.searched < LeakThresholds.FEWEST_SEARCHED;
    }

    boolean awaitsCollection() {
      return !hasTooFew() && collected.searched < LeakThresholds.FEWEST_SEARCHED;
    }

    boolean provesNothingLost() {
      return proving >= LeakThresholds.FEWEST_SEARCHED
          && collected.lost < LeakThresholds.FEWEST_SEARCHED;
    }

    /**
     * Returns the lost objects. The shares relate to all objects of the site, including young ones.
     */
    LostObjects lost(Sums proof) {
      return new LostObjects(proof.searched, proof.lost, all.bytes.share(), all.objects.share());
    }
  }

  private static final class Sums {
    private int searched;
    private int lost;
    private final Sum objects = new Sum();
    private final Sum bytes = new Sum();

    void add(SearchedObject object, boolean isLost) {
      searched++;
      lost += isLost ? 1 : 0;
      objects.add(1 / object.probability(), isLost);
      bytes.add(object.bytes() / object.probability(), isLost);
    }

    /**
     * Returns whether enough objects were searched for, at least half of them are lost, and more
     * are lost than the unread registers of {@code unreadThreads} threads could point to.
     */
    boolean proves(int unreadThreads) {
      return searched >= LeakThresholds.FEWEST_SEARCHED
          && lost >= LeakThresholds.LOST_SHARE * searched
          && objects.lost > LeakThresholds.LOST_FOR_EACH_THREAD * unreadThreads;
    }
  }

  private static final class Sum {
    private double all;
    private double squares;
    private double lost;

    void add(double weight, boolean isLost) {
      all += weight;
      squares += weight * weight;
      lost += isLost ? weight : 0;
    }

    EstimatedShare share() {
      return EstimatedShare.of(lost, all, squares);
    }
  }

  private long nanos(double seconds) {
    return (long) (seconds / scale * 1e9);
  }
}
