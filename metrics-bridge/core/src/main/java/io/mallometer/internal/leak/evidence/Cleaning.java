package io.mallometer.internal.leak.evidence;

import java.util.List;
import java.util.Map;

/**
 * The garbage collections of the JVM, and what became of sampled objects after them. Immutable.
 *
 * @param oldCollections the collections of the old generation that have begun
 * @param collections all collections that have begun
 * @param oldBeganNanos when the latest old collections were first noticed, the latest first, by
 *     {@link System#nanoTime()}; 0 if that is unknown
 * @param generationalZgc whether the collector is generational ZGC, with which a cleaner frees an
 *     object only some old collections after its end
 * @param marksFirst whether an old collection is counted after it has marked, and leaves what was
 *     allocated meanwhile to the next one
 * @param reason why nothing is known; empty if it is
 * @param sites what cleaners freed by the number of the call site, for sites with such objects
 */
public record Cleaning(
    long oldCollections,
    long collections,
    List<Long> oldBeganNanos,
    boolean generationalZgc,
    boolean marksFirst,
    String reason,
    Map<Integer, Cleaned> sites) {

  /** The old collections of which something is known. */
  public static final int KNOWN = 2;

  /**
   * The samples of a call site that cleaners freed.
   *
   * @param samples their number
   * @param afterFirstYoung those that one young collection had met, and no old one
   * @param old what became of samples after the latest old collections, the latest first
   */
  public record Cleaned(long samples, long afterFirstYoung, List<Outlived> old) {

    public Cleaned {
      old = List.copyOf(old);
    }
  }

  /**
   * The samples that were allocated before an old collection, and freed before the next one. "At
   * once" is by a cleaner, within seconds of the beginning.
   *
   * @param atOnce the samples that were freed at once
   * @param otherwise the samples that were freed later, or by another thread
   * @param again those of both that an earlier old collection had met
   * @param firstBytes the bytes freed at once of objects that no earlier one had met
   * @param againBytes the bytes freed at once of objects that an earlier one had met
   * @param otherwiseBytes the bytes freed otherwise of objects that no earlier one had met
   */
  public record Outlived(
      long atOnce,
      long otherwise,
      long again,
      double firstBytes,
      double againBytes,
      double otherwiseBytes) {

    /** No freed samples. */
    public static final Outlived NONE = new Outlived(0, 0, 0, 0, 0, 0);

    /** Returns the sum of this and another site's. */
    public Outlived plus(Outlived other) {
      return new Outlived(
          atOnce + other.atOnce,
          otherwise + other.otherwise,
          again + other.again,
          firstBytes + other.firstBytes,
          againBytes + other.againBytes,
          otherwiseBytes + other.otherwiseBytes);
    }

    /** Returns the bytes that were freed at once. */
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
