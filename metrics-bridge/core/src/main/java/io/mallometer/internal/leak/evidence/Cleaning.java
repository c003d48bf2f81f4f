package io.mallometer.internal.leak.evidence;

import java.util.List;
import java.util.Map;

/**
 * The garbage collections of the JVM, and what became of sampled objects after them. An old
 * collection is one of the old generation. Immutable.
 *
 * @param oldCollections the number of old collections that have begun
 * @param collections the number of all collections that have begun
 * @param oldBeganNanos when the latest old collections were first noticed, the latest first, by
 *     {@link System#nanoTime()}; 0 if that is unknown
 * @param generationalZgc whether the collector is generational ZGC, with which a cleaner frees an
 *     object only some old collections after its owner became unreachable
 * @param marksFirst whether an old collection is counted only after it has marked. It does not free
 *     objects that were allocated while it marked; the next one may
 * @param reason the reason why nothing is known; empty otherwise
 * @param sites the samples that cleaners freed, by the number of the call site; only sites with
 *     such samples have an entry
 */
public record Cleaning(
    long oldCollections,
    long collections,
    List<Long> oldBeganNanos,
    boolean generationalZgc,
    boolean marksFirst,
    String reason,
    Map<Integer, Cleaned> sites) {

  /** Freed samples are counted for this many of the latest collections of the old generation. */
  public static final int KNOWN = 2;

  /**
   * The samples of a call site that cleaners freed.
   *
   * @param samples the number of these samples
   * @param afterFirstYoung the number of these that were live when exactly one young collection
   *     began, and when no old one began
   * @param old the samples that were freed after each of the latest old collections, the latest
   *     first
   */
  public record Cleaned(long samples, long afterFirstYoung, List<Outlived> old) {

    public Cleaned {
      old = List.copyOf(old);
    }
  }

  /**
   * The samples that were allocated before an old collection began and freed before the next one
   * began. "At once" means by a cleaner, within seconds of the beginning of the collection. A
   * collection has met an object if the object was live when the collection began.
   *
   * @param atOnce the samples that were freed at once
   * @param otherwise the samples that were freed later, or by another thread
   * @param again the samples of both kinds that an earlier old collection had met
   * @param firstBytes the bytes freed at once of objects that no earlier old collection had met
   * @param againBytes the bytes freed at once of objects that an earlier old collection had met
   * @param otherwiseBytes the bytes freed otherwise of objects that no earlier old collection had
   *     met
   */
  public record Outlived(
      long atOnce,
      long otherwise,
      long again,
      double firstBytes,
      double againBytes,
      double otherwiseBytes) {

    /** The counts of a site without freed samples. */
    public static final Outlived NONE = new Outlived(0, 0, 0, 0, 0, 0);

    /** Adds the counts of another site to these, and returns the sums. */
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

  /** Returns an empty result with the reason. */
  public static Cleaning none(String reason) {
    return new Cleaning(0, 0, List.of(), false, false, reason, Map.of());
  }
}
