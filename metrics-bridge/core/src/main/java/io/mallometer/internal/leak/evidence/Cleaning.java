package io.mallometer.internal.leak.evidence;

import java.util.List;
import java.util.Map;

/**
 * The garbage collections of the JVM, and the sampled objects that cleaners freed after them. An
 * old collection is one of the old generation. Immutable.
 *
 * @param oldCollections the number of old collections that have begun
 * @param collections the number of all collections that have begun
 * @param oldBeganNanos when the latest old collections were noticed, the latest first, by {@link
 *     System#nanoTime()}; 0 if unknown
 * @param generationalZgc whether the collector is generational ZGC; cleaners then free an object
 *     only some old collections after its owner became unreachable
 * @param marksFirst whether an old collection is counted after it has marked; it then does not free
 *     objects that were allocated while it marked
 * @param reason why nothing is known; empty otherwise
 */
public record Cleaning(
    long oldCollections,
    long collections,
    List<Long> oldBeganNanos,
    boolean generationalZgc,
    boolean marksFirst,
    String reason,
    Map<Integer, Cleaned> sites) {

  /** The number of old collections, the latest ones, for which freed samples are counted. */
  public static final int KNOWN = 2;

  /**
   * The samples of a call site that cleaners freed.
   *
   * @param samples their number
   * @param afterFirstYoung the number that were freed after exactly one collection, a young one
   * @param old the samples freed after each of the latest old collections, the latest first
   */
  public record Cleaned(long samples, long afterFirstYoung, List<Outlived> old) {

    public Cleaned {
      old = List.copyOf(old);
    }
  }

  /**
   * The samples that were allocated before an old collection began and freed before the next one
   * began. "At once" means by a cleaner, within seconds.
   *
   * @param otherwise the samples freed later, or by another thread
   * @param again all these samples that an earlier old collection had left
   * @param firstBytes the bytes freed at once of objects that were new to old collections
   * @param againBytes the bytes freed at once of objects that an earlier old collection had left
   * @param otherwiseBytes the bytes freed otherwise of objects that were new to old collections
   */
  public record Outlived(
      long atOnce,
      long otherwise,
      long again,
      double firstBytes,
      double againBytes,
      double otherwiseBytes) {

    public static final Outlived NONE = new Outlived(0, 0, 0, 0, 0, 0);

    public Outlived plus(Outlived other) {
      return new Outlived(
          atOnce + other.atOnce,
          otherwise + other.otherwise,
          again + other.again,
          firstBytes + other.firstBytes,
          againBytes + other.againBytes,
          otherwiseBytes + other.otherwiseBytes);
    }

    /** Returns the bytes that a cleaner freed within seconds after a collection. */
    public double bytes() {
      return firstBytes + againBytes;
    }
  }

  public Cleaning {
    oldBeganNanos = List.copyOf(oldBeganNanos);
    sites = Map.copyOf(sites);
  }

  public static Cleaning none(String reason) {
    return new Cleaning(0, 0, List.of(), false, false, reason, Map.of());
  }
}
