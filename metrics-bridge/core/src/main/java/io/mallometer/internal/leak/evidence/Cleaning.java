package io.mallometer.internal.leak.evidence;

import java.util.List;
import java.util.Map;

/**
 * The garbage collections of the JVM, and the sampled objects that cleaners freed after them. An
 * old collection is a collection of the old generation. Immutable.
 *
 * @param oldCollections the number of old collections that have begun
 * @param collections the number of all collections that have begun
 * @param oldBeganNanos when the latest old collections were noticed, the latest first, by {@link
 *     System#nanoTime()}; 0 if unknown
 * @param generationalZgc whether the collector is generational ZGC. Its cleaners may free an object
 *     several old collections after the owner became unreachable.
 * @param marksFirst whether an old collection is counted only after its marking. Objects that are
 *     allocated during the marking survive the collection.
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

  /**
   * The number of latest collections of the old generation for which {@link Cleaned} has separate
   * counts.
   */
  public static final int KNOWN = 2;

  /**
   * The samples of a call site that cleaners freed.
   *
   * @param samples their number
   * @param afterFirstYoung the number that were freed after exactly one collection, a young one
   * @param old the samples freed after each of the latest collections of the old generation, the
   *     latest first
   */
  public record Cleaned(long samples, long afterFirstYoung, List<Outlived> old) {

    public Cleaned {
      old = List.copyOf(old);
    }
  }

  /**
   * The samples of a call site that were allocated before a collection of the old generation began,
   * and freed before the next such collection began. A sample was freed at once if a cleaner freed
   * it within seconds after the collection. A sample is new if it survived no previous collection
   * of the old generation.
   *
   * @param atOnce the number of samples that were freed at once
   * @param otherwise the number of samples that were not freed at once
   * @param again the number of samples that are not new, whether freed at once or not
   * @param firstBytes the bytes of new samples that were freed at once
   * @param againBytes the bytes of samples that are not new and were freed at once
   * @param otherwiseBytes the bytes of new samples that were not freed at once
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
