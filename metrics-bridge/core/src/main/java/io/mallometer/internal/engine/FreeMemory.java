package io.mallometer.internal.engine;

import io.mallometer.internal.interposer.Neighbours;
import io.mallometer.internal.text.Words;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Estimate;
import io.mallometer.model.PinnedMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * Free memory of glibc between objects, by counts and not by samples.
 *
 * <p>glibc counts its free chunks and what is free at the end of each arena; the rest lies between
 * objects. What of all free memory is resident is known by a split of the resident set. So the
 * resident part between objects lies between two bounds: all that is free at the ends is resident,
 * or none of it is.
 *
 * <p>Whole pages inside free chunks are counted too, to 4 KiB for each chunk. A trim gives back at
 * least those that {@link AllocatorStatistics#withResident} finds resident, and no more than what
 * is free and resident; between the bounds the free chunks beside samples tell, whose pages are
 * looked at one by one.
 *
 * @param low the least that is resident between objects
 * @param value the best guess
 * @param high the most
 * @param trimmable the least that a trim gives back; {@code NaN} if unknown
 * @param releasable whole pages that a trim gives back, resident or not
 * @param arenaBytes what the arenas have from the system; {@code NaN} if there are no more than two
 * @param peakBytes what of it was live at once; {@code NaN} if unknown
 * @param residentBytes all of glibc's free memory that is resident; {@code NaN} if unknown
 */
record FreeMemory(
    double low,
    double value,
    double high,
    double trimmable,
    double releasable,
    double arenaBytes,
    double peakBytes,
    double residentBytes) {

  /** Half the width of a 95 % interval, in standard deviations. */
  private static final double Z = 1.96;

  private static final double FEW_ARENAS = 2;

  private static final double PAGE = 4096;

  /** What stands at the front of a large free chunk, which no trim gives back. */
  private static final double LINKS = 48;

  /**
   * Of the statistics of one moment.
   *
   * @param residentBytes free memory that is resident; {@code NaN} if unknown
   * @param peakBytes the most that was live at once, without what was mapped singly; {@code NaN} if
   *     unknown
   */
  static FreeMemory of(AllocatorStatistics statistics, double residentBytes, double peakBytes) {
    double ends =
        statistics.byArena().stream().mapToDouble(AllocatorStatistics.Arena::topBytes).sum();
    double high = Math.max(0, statistics.retainedBytes() - ends);
    double resident = Double.isNaN(residentBytes) ? statistics.retainedBytes() : residentBytes;
    double value = Math.min(high, resident);
    double low =
        Double.isNaN(residentBytes)
            ? Math.min(value, known(statistics.trimmableBytes()))
            : Math.min(value, Math.max(0, resident - ends));
    return new FreeMemory(
        low,
        value,
        high,
        statistics.trimmableBytes(),
        statistics.releasableBytes(),
        statistics.arenas() > FEW_ARENAS
            ? statistics.systemBytes() - known(statistics.mappedBytes())
            : Double.NaN,
        Math.max(statistics.usedBytes() - known(statistics.mappedBytes()), peakBytes),
        residentBytes);
  }

  /** What lies between objects and is resident. */
  Estimate bytes(long samples) {
    return between(low, value, high, samples);
  }

  /** What a trim gives back. */
  Estimate returnable(List<Neighbours> neighbours) {
    double pages = 0;
    double resident = 0;
    long samples = 0;
    for (Neighbours one : neighbours) {
      if (one.known() && one.probability() > 0) {
        for (Neighbours.Side side :
            one.last() ? List.of(one.before()) : List.of(one.before(), one.after())) {
          double whole = wholePages(side.bytes());
          pages += whole / one.probability();
          resident += Math.min(whole, side.returnableBytes()) / one.probability();
          samples += whole > 0 ? 1 : 0;
        }
      }
    }
    double most = Double.isNaN(residentBytes) ? releasable : residentBytes;
    double least = Math.min(known(trimmable), most);
    double guess = pages > 0 ? Math.min(releasable * resident / pages, most) : least;
    return between(least, Math.max(least, guess), most, samples);
  }

  /**
   * What would help.
   *
   * <p>Fewer arenas let threads use each other's free memory again, but all that was live at once
   * has to fit in them. So sharing saves what the arenas have above that. Other objects may lie at
   * the ends of heaps then, which no count foretells: the bounds are nothing and all free memory.
   *
   * @param returnable what a trim gives back
   */
  List<PinnedMemory.Effect> effects(Estimate returnable) {
    List<PinnedMemory.Effect> effects = new ArrayList<>();
    effects.add(
        new PinnedMemory.Effect(
            "trim",
            returnable.low(),
            returnable.value(),
            returnable.high(),
            "A trim would give back %s (%s to %s)."
                .formatted(
                    Words.bytes(returnable.value()),
                    Words.bytes(returnable.low()),
                    Words.bytes(returnable.high()))));
    double shared = Math.min(residentBytes, Math.max(0, arenaBytes - peakBytes));
    if (!Double.isNaN(shared)) {
      effects.add(
          new PinnedMemory.Effect(
              "arenas",
              0,
              shared,
              residentBytes,
              "Fewer arenas (MALLOC_ARENA_MAX) would save some %s (0 to %s): the arenas have %s from the system, and at least %s of it was live at once."
                  .formatted(
                      Words.bytes(shared),
                      Words.bytes(residentBytes),
                      Words.bytes(arenaBytes),
                      Words.bytes(peakBytes))));
    }
    effects.add(
        new PinnedMemory.Effect(
            "allocator",
            Double.NaN,
            Double.NaN,
            Double.NaN,
            "What another allocator would save is not estimated, because it depends on the order and the lifetimes of all allocations, which nothing records."));
    return effects;
  }

  /** Expected for a chunk that may begin anywhere in a page. */
  private static double wholePages(double bytes) {
    return Math.max(0, bytes - LINKS - PAGE);
  }

  private static double known(double bytes) {
    return Double.isNaN(bytes) ? 0 : bytes;
  }

  private static Estimate between(double low, double value, double high, long samples) {
    double deviation = (high - low) / 2 / Z;
    return new Estimate(value, deviation * deviation, samples).atMost(high);
  }
}
