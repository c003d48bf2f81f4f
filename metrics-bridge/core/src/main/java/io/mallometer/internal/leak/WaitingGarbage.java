package io.mallometer.internal.leak;

import io.mallometer.internal.leak.evidence.Cleaning;
import io.mallometer.internal.leak.evidence.Cleaning.Cleaned;
import io.mallometer.internal.leak.evidence.Cleaning.Outlived;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.model.Estimate;
import io.mallometer.model.GarbageAnswer;
import io.mallometer.model.SiteVerdict.Garbage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Estimates the native memory whose Java owners are unreachable, so that cleaners will free it
 * after the next garbage collection. The estimate comes from what the last two collections of the
 * old generation left and freed.
 *
 * <p>An object is new to a collection if it survived no earlier collection. Each of the two
 * collections freed a share of its new objects; the mean of these shares estimates the garbage
 * among the objects that were allocated since the latest collection. Older objects become garbage
 * at the rate at which the two collections freed objects that were not new.
 *
 * <p>{@link #waits} returns whether nearly all memory of a call site is taken for garbage. If young
 * collections free this memory, the site must be a suspect by the other tests, and must not hold
 * too many samples ({@link #MOST_SINCE}). If collections of the old generation free it, all these
 * conditions must hold:
 *
 * <ul>
 *   <li>At most a tenth of its samples survived each of the two collections, and at most a
 *       twentieth survived both. The upper bounds of binomial confidence intervals must meet this
 *       condition.
 *   <li>The samples that survived both collections have at most a tenth of the live bytes.
 *   <li>The live bytes are at most twice the live bytes at the beginning of one of the two
 *       collections. Otherwise the site may have changed.
 * </ul>
 */
final class WaitingGarbage {

  /**
   * Memory of a site is not taken for garbage if more than this share of the site's samples
   * survives one collection.
   */
  private static final double MOST_LEFT = 0.1;

  private static final double MOST_LEFT_BY_BOTH = 0.05;

  /** The distance of an upper bound from the estimate, in standard errors. */
  private static final double ERRORS = 1.96;

  /**
   * Memory of a site is taken for garbage only if the site does not hold too much:
   *
   * <ul>
   *   <li>If collections of the old generation free the memory, its live bytes are at most this
   *       value times those at the beginning of one of the last two such collections.
   *   <li>If young collections free it, the number of its live samples is at most this value times
   *       the mean number of the site's samples that a young collection frees.
   * </ul>
   */
  private static final double MOST_SINCE = 2;

  /**
   * The last two collections of the old generation must have freed similar amounts: the smaller
   * amount must be at least this share of the larger one.
   */
  private static final double EVEN_SHARE = 0.25;

  /**
   * The amount of garbage is estimated only if the last two collections of the old generation
   * together freed at least this many samples.
   */
  private static final int FEWEST_FREED = 10;

  /**
   * The longest time, in seconds, from the beginning of a collection's marking until the collection
   * is noticed. Objects that are allocated in this time survive the collection, so they are treated
   * as if they were allocated after the collection.
   */
  private static final double MARKING = 2;

  /**
   * Cleaners are expected to free the memory of unreachable objects within this many seconds after
   * a collection was noticed.
   */
  private static final double CLEANING = 2;

  private static final double NANOS = 1e9;

  private Cleaning latest = Cleaning.none("");
  private SamplesBySite samples = new SamplesBySite(List.of());
  private double seconds = Double.NaN;
  private double began = Double.NaN;
  private long firstOld;
  private boolean isDelayed;

  /**
   * Maps the number of a call site to the counts at the time when a cleaner was first seen to free
   * samples of this site. Only later frees are used, because a cleaner is recognized some seconds
   * after its first free, and counts as an ordinary thread until then.
   */
  private final Map<Integer, First> firstCleaned = new HashMap<>();

  /**
   * The counts at the time when a cleaner was first seen to free samples of one call site.
   *
   * @param old the number of collections of the old generation that began before the cleaner was
   *     recognized
   */
  private record First(long old, long collections, long afterFirstYoung) {

    /**
     * Returns the mean number of samples that cleaners freed per garbage collection since this
     * record was made. Counts only samples for which exactly one collection, a young one, came
     * between the allocation and the free.
     */
    double ofEach(Cleaned freed, long now) {
      return (double) (freed.afterFirstYoung() - afterFirstYoung) / Math.max(1, now - collections);
    }
  }

  /**
   * Stores a reading. Skips one that comes within {@link #CLEANING} seconds after a collection of
   * the old generation, because cleaners may not have freed everything yet. Never skips two
   * readings in a row.
   *
   * @param now in seconds, by {@link System#nanoTime()}
   */
  void add(Cleaning cleaning, SamplesBySite live, double now) {
    if (cleaning.reason().isEmpty() && Double.isNaN(began)) {
      began = now;
      firstOld = cleaning.oldCollections();
    }
    double noticed = noticed(cleaning, 0);
    isDelayed = !isDelayed && noticed > 0 && now - noticed < CLEANING;
    if (isDelayed) {
      return;
    }
    firstCleaned.keySet().retainAll(cleaning.sites().keySet());
    cleaning
        .sites()
        .forEach(
            (site, freed) ->
                firstCleaned.putIfAbsent(
                    site,
                    new First(
                        cleaning.oldCollections() - knownAlready(freed),
                        cleaning.collections(),
                        freed.afterFirstYoung())));
    latest = cleaning;
    samples = live;
    seconds = now;
  }

  /**
   * Returns how many of the last {@link Cleaning#KNOWN} collections of the old generation began
   * after the cleaner was recognized. Frees of a cleaner that is not recognized yet are counted in
   * {@link Outlived#otherwise}.
   */
  private static int knownAlready(Cleaned freed) {
    int known = 0;
    while (known < Cleaning.KNOWN
        && freed.old().get(known).atOnce() > 0
        && freed.old().get(known).otherwise() == 0) {
      known++;
    }
    return known;
  }

  String reason() {
    return latest.reason();
  }

  private long seen() {
    return latest.oldCollections() - firstOld;
  }

  private double secondsSinceOld() {
    return beganAt(0) > 0 ? Math.max(0, seconds - beganAt(0)) : seconds - began;
  }

  /**
   * Returns when a collection of the old generation was noticed, in seconds; 0 if unknown.
   *
   * @param collection 0 for the latest
   */
  private double beganAt(int collection) {
    return noticed(latest, collection);
  }

  private static double noticed(Cleaning cleaning, int collection) {
    List<Long> known = cleaning.oldBeganNanos();
    return collection < known.size() ? known.get(collection) / NANOS : 0;
  }

  private long metBy(SampledObject object) {
    long begun = latest.oldCollections() - object.oldCollections();
    boolean isKnown = begun >= 1 && begun <= latest.oldBeganNanos().size();
    double noticed = isKnown ? beganAt((int) begun - 1) : 0;
    boolean isLeftToNext =
        latest.marksFirst() && noticed > 0 && object.bornNanos() / NANOS > noticed - MARKING;
    return isLeftToNext ? begun - 1 : begun;
  }

  private static final class Live {

    long count;
    double bytes;

    void add(SampledObject object) {
      count++;
      bytes += object.weight() * object.bytes();
    }

    /** Returns the upper bound of the bytes, which is above 0 even without a sample. */
    double mostBytes(double bytesOfSample) {
      double most = count + ERRORS * Math.sqrt(count + 1.0) + ERRORS;
      return Math.max(bytesOfSample, count > 0 ? bytes / count : 0) * most;
    }
  }

  private final class Sums {

    private final Live all = new Live();

    /** The live samples that survived the last collection of the old generation. */
    private final Live left = new Live();

    private final Live leftByBoth = new Live();

    /** The live samples that have survived exactly two collections of the old generation. */
    private final Live leftSecond = new Live();

    private final Live leftByAny = new Live();
    private final Outlived[] old = {Outlived.NONE, Outlived.NONE};
    private long cleaned;
    private long afterFirstYoung;
    private double freedByEachYoung;
    private long since = Long.MAX_VALUE;

    /** The number of collections that had begun when the oldest live sample was allocated. */
    private long oldest = Long.MAX_VALUE;

    Sums(List<Integer> sites) {
      sites.forEach(this::add);
    }

    private void add(int site) {
      for (SampledObject object : samples.of(site)) {
        all.add(object);
        oldest = Math.min(oldest, object.collections());
        long met = metBy(object);
        if (met >= 1) {
          left.add(object);
        }
        if (met >= 2) {
          leftByBoth.add(object);
        }
        if (met == 2) {
          leftSecond.add(object);
        }
        if (latest.collections() - object.collections() >= 2) {
          leftByAny.add(object);
        }
      }
      Cleaned freed = latest.sites().get(site);
      if (freed != null) {
        cleaned += freed.samples();
        afterFirstYoung += freed.afterFirstYoung();
        First first = firstCleaned.get(site);
        since = Math.min(since, latest.oldCollections() - first.old());
        freedByEachYoung += first.ofEach(freed, latest.collections());
        for (int i = 0; i < Cleaning.KNOWN; i++) {
          old[i] = old[i].plus(freed.old().get(i));
        }
      }
    }

    /**
     * Returns the number of samples that survived a collection of the old generation.
     *
     * @param collection 0 for the latest such collection, 1 for the one before it
     */
    long samplesLeft(int collection) {
      return collection == 0
          ? left.count + old[0].otherwise()
          : leftByBoth.count + old[0].again() + old[1].otherwise();
    }

    private double bytesMet(int collection) {
      double perSample = all.count > 0 ? all.bytes / all.count : 0;
      double freed = old[collection].bytes();
      return freed + samplesLeft(collection) * perSample;
    }

    private double mostLeft(long count, long freed) {
      long met = count + freed;
      return met == 0 ? 1 : AllocationTrend.wilsonBound((double) count / met, met, ERRORS);
    }

    boolean freesNearlyAll() {
      long met = samplesLeft(1) + old[1].atOnce();
      return mostLeft(samplesLeft(0), old[0].atOnce()) <= MOST_LEFT
          && mostLeft(samplesLeft(1), old[1].atOnce()) <= MOST_LEFT
          && mostLeft(leftByBoth.count, met - leftByBoth.count) <= MOST_LEFT_BY_BOTH;
    }

    private boolean areFew(Live held, double most) {
      return all.count > 0 && held.mostBytes(all.bytes / all.count) <= MOST_LEFT * most;
    }

    boolean waitsForOld(boolean waitsAlready) {
      double met = Math.max(bytesMet(0), bytesMet(1));
      // The samples that survived both collections must be a small share of the live bytes. Just
      // after a collection, few bytes are live, so the share is large. Therefore, if waitsAlready
      // is true, the live bytes before the collection are used instead if they are more.
      return freesNearlyAll()
          && areFew(leftByBoth, waitsAlready ? Math.max(met, all.bytes) : all.bytes)
          && all.bytes <= MOST_SINCE * met;
    }

    boolean waitsForYoung() {
      return all.count <= MOST_SINCE * freedByEachYoung;
    }

    boolean freesYoung() {
      return mostLeft(cleaned - afterFirstYoung, afterFirstYoung) <= MOST_LEFT
          && (leftByAny.count == 0 || areFew(leftByAny, all.bytes));
    }

    GarbageAnswer answer() {
      if (cleaned == 0) {
        return GarbageAnswer.NONE;
      }
      if (freesYoung()) {
        return GarbageAnswer.YOUNG;
      }
      if (since < Cleaning.KNOWN || latest.generationalZgc() || !(span() > 0)) {
        return GarbageAnswer.NOT_TOLD;
      }
      double least = Math.min(old[0].bytes(), old[1].bytes());
      double more = Math.max(old[0].bytes(), old[1].bytes());
      boolean isKnown = old[0].atOnce() + old[1].atOnce() >= FEWEST_FREED;
      if (isKnown && least >= EVEN_SHARE * more) {
        return GarbageAnswer.OLD;
      }
      return leftByBoth.count > 0 ? GarbageAnswer.OUTLIVED : GarbageAnswer.NOT_TOLD;
    }

    GarbageAnswer answerForCleaner() {
      boolean isMet = oldest < latest.collections();
      return cleaned == 0 && all.count > 0 && !isMet && reason().isEmpty()
          ? GarbageAnswer.NOT_YET
          : answer();
    }

    /**
     * Returns the seconds from the third last collection of the old generation to the last one. The
     * garbage that the last two collections freed arose in this period. The period begins at the
     * first reading if the time of the third last collection is unknown.
     */
    private double span() {
      return beganAt(0) - (beganAt(2) > 0 ? beganAt(2) : began);
    }

    /**
     * Returns how much a collection of the old generation freed, through cleaners and within
     * seconds, as a share of the bytes for which it was the first such collection.
     */
    private double firstShare(Outlived freed, double left) {
      double met = freed.firstBytes() + freed.otherwiseBytes() + left;
      return met > 0 ? freed.firstBytes() / met : 0;
    }

    /** Returns the live bytes that a collection of the old generation would free at this moment. */
    Estimate bytes() {
      double born = all.bytes - left.bytes;
      // Objects that survived the collection old[1] were freed after the next one, old[0]
      // (againBytes), or are still live (leftSecond).
      double again = old[0].againBytes();
      double[] shares = {
        firstShare(old[0], left.bytes - leftByBoth.bytes),
        firstShare(old[1], again + leftSecond.bytes)
      };
      double first = (shares[0] + shares[1]) / 2 * born;
      double older =
          Math.min(left.bytes, (again + old[1].againBytes()) / span() * secondsSinceOld());
      double apart = (shares[0] - shares[1]) / 2 * born;
      double bytes = Math.min(all.bytes, first + older);
      double freed = old[0].atOnce() + old[1].atOnce();
      long counted = Math.max(2, Math.min(all.count, (long) freed));
      return new Estimate(bytes, bytes * bytes / counted + apart * apart, counted)
          .atMost(all.bytes);
    }

    double bytesPerSecond() {
      return (old[0].bytes() + old[1].bytes()) / span();
    }
  }

  /**
   * Estimates how much memory a garbage collection would free, for all given sites together.
   *
   * @param forCleaner whether a cleaner of the JDK frees their objects
   */
  Garbage of(List<Integer> sites, boolean forCleaner) {
    if (!forCleaner && sites.stream().noneMatch(latest.sites()::containsKey)) {
      return Garbage.NONE;
    }
    Sums sums = new Sums(sites);
    GarbageAnswer answer = forCleaner ? sums.answerForCleaner() : sums.answer();
    if (answer == GarbageAnswer.NONE) {
      return Garbage.NONE;
    }
    boolean isAmount = answer == GarbageAnswer.OLD;
    return new Garbage(
        answer,
        isAmount ? sums.bytes() : Estimate.ZERO,
        isAmount ? sums.bytesPerSecond() : 0,
        (int) seen(),
        secondsSinceOld());
  }

  /**
   * Returns whether nearly all memory of the sites is taken for garbage that waits for a
   * collection. Returns false if one of several sites holds much memory that survived the last two
   * collections of the old generation.
   *
   * @param suspect whether the sites would otherwise be suspects
   * @param waitsAlready whether the previous evaluation returned true
   */
  boolean waits(List<Integer> sites, boolean suspect, boolean waitsAlready) {
    Sums sums = new Sums(sites);
    return switch (sums.answer()) {
      case OLD -> sums.waitsForOld(waitsAlready) && noneHolds(sites);
      case YOUNG -> suspect && sums.waitsForYoung();
      default -> false;
    };
  }

  private boolean noneHolds(List<Integer> sites) {
    for (int site : sites) {
      Sums one = new Sums(List.of(site));
      boolean holds =
          one.leftByBoth.count > 0 && one.leftByBoth.bytes > MOST_LEFT * one.bytesMet(1);
      if (sites.size() > 1 && holds) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the part of a sentence that tells how much of the memory a garbage collection frees;
   * empty if no cleaner frees it.
   */
  String words(Garbage garbage) {
    return switch (garbage.answer()) {
      case NONE -> "";
      case YOUNG -> "a young garbage collection frees it";
      case NOT_YET -> "a garbage collection may free it, and none came since it was allocated";
      case OLD ->
          "an old garbage collection frees about %s of it (%s to %s); the last was %s ago"
              .formatted(
                  Sentence.bytes(garbage.bytes().value()),
                  Sentence.bytes(garbage.bytes().low()),
                  Sentence.bytes(garbage.bytes().high()),
                  Sentence.atLeast(garbage.lastOldSeconds()));
      case NOT_TOLD ->
          latest.generationalZgc()
              ? "how much of it a collection frees cannot be told with generational ZGC"
              : seen() == 0
                  ? "no old collection was seen yet, so whether one frees it cannot be told"
                  : "too few old collections freed some of it, so how much one frees is not known";
      case OUTLIVED -> "some of it outlived two old collections: held, or freed by no cleaner";
    };
  }
}
