package io.mallometer.internal.leak;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.interposer.MemorySearch;
import io.mallometer.internal.interposer.SoughtObject;
import io.mallometer.internal.text.Log;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which sites lose memory: no address of most of their sampled objects exists in the process, so
 * nobody can use or free them, whatever its timeouts. Has the library search for addresses, twice
 * in an hour at the most, and believes what both searches say. One alone may miss an object whose
 * only address is in a register, or on its way from one place to another.
 */
final class LostMemory {

  /** How names of sites begin that no Java method asked for. */
  private static final String JVM = "libjvm.so!";

  private final double scale;

  private Map<Integer, List<Integer>> stacks = Map.of();
  private List<Integer> sought = List.of();
  private @Nullable MemorySearch first;
  private boolean running;
  private boolean everSearched;
  private long nextNanos;
  private long nextPairNanos;
  private String told = "";
  private String words = "not searched yet: nothing is unused";
  private Map<Integer, Lost> found = Map.of();

  /**
   * Nothing is known.
   *
   * @param scale by what all times are divided
   */
  LostMemory(double scale) {
    this.scale = scale;
  }

  /**
   * Takes which sites each verdict is on.
   *
   * @param stacks the numbers of all sites of a verdict by its site's; verdicts on one site are
   *     left out
   */
  void take(Map<Integer, List<Integer>> stacks) {
    this.stacks = stacks;
  }

  /** What is known of a site that loses memory; null of others. */
  @Nullable Lost of(int site) {
    return found.get(site);
  }

  /** Whether a verdict on the site, on whichever of its stacks it stands, says memory is lost. */
  boolean isLost(LeakReport latest, int site) {
    return latest.sites().stream()
        .filter(verdict -> verdict.grounds().evidence() == LeakEvidence.LOST)
        .flatMap(verdict -> numbers(verdict.site().number()))
        .anyMatch(number -> number == site);
  }

  /** The outcome of the latest search, or why there was none. */
  String words() {
    return words;
  }

  /**
   * Goes on: takes what a search found that has ended, and begins one if it is time and something
   * is unused.
   *
   * @param threads of the process
   * @return whether something else is lost than before
   */
  boolean advance(Interposer library, LeakReport latest, int threads, long nowNanos) {
    if (running) {
      MemorySearch search = library.memorySearch();
      if (search.state() == MemorySearch.State.RUNNING) {
        return false;
      }
      running = false;
      Map<Integer, Lost> before = found;
      end(search, threads, nowNanos);
      return !found.equals(before);
    }
    if (!everSearched || nowNanos - nextNanos >= 0) {
      sought = first == null ? candidates(latest) : sought;
      if (!sought.isEmpty()) {
        begin(library, nowNanos);
      }
    }
    return false;
  }

  private void begin(Interposer library, long nowNanos) {
    if (first == null) {
      nextPairNanos = nowNanos + nanos(LeakThresholds.SEARCH_PAIR_SECONDS);
    }
    everSearched = true;
    String refusal = library.searchMemory(sought, LeakThresholds.SEARCHED_BYTES);
    running = refusal.isEmpty();
    if (!running) {
      giveUp(refusal);
    }
  }

  private void giveUp(String reason) {
    if (!reason.equals(told)) {
      told = reason;
      Log.MALLOMETER.info("Lost memory is not searched for: " + reason);
    }
    words = "not known: " + reason;
    first = null;
    nextNanos = nextPairNanos;
  }

  private void end(MemorySearch search, int threads, long nowNanos) {
    MemorySearch before = first;
    Optional<String> obstacle = obstacle(search);
    if (obstacle.isPresent()) {
      giveUp(obstacle.get());
    } else if (before == null) {
      first = search;
      nextNanos = nowNanos + nanos(LeakThresholds.SEARCH_PAUSE_SECONDS);
      words = searched(search) + "; a second search must confirm it";
    } else {
      first = null;
      nextNanos = nextPairNanos;
      found = compare(before, search, threads);
      words = searched(search) + " twice: " + lost(found.size());
    }
  }

  private static String lost(int sites) {
    return switch (sites) {
      case 0 -> "nothing is lost";
      case 1 -> "1 call site loses memory";
      default -> sites + " call sites lose memory";
    };
  }

  private static String searched(MemorySearch search) {
    return "searched " + Sentence.bytes(search.searchedBytes());
  }

  /** Why a search says nothing: an address may lie where it did not look. */
  private static Optional<String> obstacle(MemorySearch search) {
    if (search.state() != MemorySearch.State.DONE) {
      return Optional.of(search.reason());
    }
    if (search.swappedBytes() > 0) {
      return Optional.of(Sentence.bytes(search.swappedBytes()) + " of the process are swapped out");
    }
    double missed = search.residentBytes() - search.searchedBytes();
    return missed > LeakThresholds.UNSEARCHED_SHARE * search.residentBytes()
        ? Optional.of(
            "searched "
                + Sentence.bytes(search.searchedBytes())
                + " of "
                + Sentence.bytes(search.residentBytes())
                + ", too little for a conclusion")
        : Optional.empty();
  }

  /**
   * None while nothing is unused. Suspects come first. The others are searched for as well: what
   * they lose is told when they are suspects, which may be long before the next search.
   */
  private List<Integer> candidates(LeakReport latest) {
    List<SiteVerdict> possible =
        latest.sites().stream().filter(LostMemory::mayBeLost).collect(Collectors.toList());
    if (possible.stream().noneMatch(site -> site.verdict() == Verdict.UNUSED)) {
      return List.of();
    }
    possible.sort(
        Comparator.comparing(LostMemory::isSuspect)
            .thenComparingDouble(site -> site.growth().liveBytes())
            .reversed());
    return possible.stream()
        .flatMap(site -> numbers(site.site().number()))
        .distinct() // a verdict that could not be made anew may have a site of another
        .limit(Interposer.MOST_SOUGHT_SITES)
        .toList();
  }

  private Stream<Integer> numbers(int site) {
    return stacks.getOrDefault(site, List.of(site)).stream();
  }

  /** HotSpot's own objects may be known by encoded addresses. */
  private static boolean mayBeLost(SiteVerdict site) {
    return !site.acknowledged() && !site.site().name().startsWith(JVM);
  }

  private static boolean isSuspect(SiteVerdict site) {
    return site.verdict().compareTo(Verdict.GROWING) <= 0;
  }

  /** What is known of other sites stays. */
  private Map<Integer, Lost> compare(MemorySearch first, MemorySearch second, int threads) {
    Map<Long, SoughtObject> before = new HashMap<>();
    first.objects().forEach(object -> before.put(object.id(), object));
    Map<Integer, Count> counts = new HashMap<>();
    for (SoughtObject object : second.objects()) {
      SoughtObject known = before.get(object.id());
      if (known != null && !object.freed()) {
        counts
            .computeIfAbsent(object.site(), site -> new Count())
            .add(object, known.lost() && object.lost());
      }
    }
    Map<Integer, Lost> lost = new HashMap<>(found);
    lost.keySet().removeAll(sought);
    counts.forEach(
        (site, count) -> {
          if (count.proves(threads)) {
            lost.put(site, count.lost());
          }
        });
    return Map.copyOf(lost);
  }

  private static final class Count {
    private int sought;
    private int lost;
    private final Sum objects = new Sum();
    private final Sum bytes = new Sum();

    void add(SoughtObject object, boolean isLost) {
      sought++;
      lost += isLost ? 1 : 0;
      objects.add(1 / object.probability(), isLost);
      bytes.add(object.bytes() / object.probability(), isLost);
    }

    Lost lost() {
      return new Lost(sought, lost, bytes.share(), objects.share());
    }

    /** More objects than may be in the registers of all threads. */
    boolean proves(int threads) {
      return sought >= LeakThresholds.FEWEST_SOUGHT
          && lost >= LeakThresholds.LOST_SHARE * sought
          && objects.lost > LeakThresholds.LOST_FOR_EACH_THREAD * threads;
    }
  }

  /** Sums of the weights of all objects, and of the lost ones. */
  private static final class Sum {
    private double all;
    private double squares;
    private double lost;

    void add(double weight, boolean isLost) {
      all += weight;
      squares += weight * weight;
      lost += isLost ? weight : 0;
    }

    Share share() {
      return Share.of(lost, all, squares);
    }
  }

  private long nanos(double seconds) {
    return (long) (seconds / scale * 1e9);
  }
}
