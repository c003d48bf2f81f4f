package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * Free memory that lies between live objects: how much it is, by glibc's own counts; which call
 * sites keep glibc from giving it back, by the free chunks beside live samples; and what would
 * help. What is free at the end of a heap is not in it.
 *
 * @param time when it was read
 * @param sentence the result in one sentence, or why there is none
 * @param bytes resident free memory between objects
 * @param returnableBytes the part of it that a trim would give back, page by page
 * @param stuckBytes the part of it that no trim gives back
 * @param sites the call sites with the most of it, at most {@value #MOST_SITES}; empty if there is
 *     not enough evidence
 * @param effects what a trim, fewer arenas and another allocator would change
 * @param costSeconds how long the reading took
 */
public record PinnedMemory(
    Instant time,
    String sentence,
    Estimate bytes,
    Estimate returnableBytes,
    Estimate stuckBytes,
    List<PinningSite> sites,
    List<Effect> effects,
    double costSeconds) {

  /**
   * What a measure would change. Resident bytes less; {@code NaN} where that cannot be estimated
   * honestly.
   *
   * @param measure {@code trim}, {@code arenas} or {@code allocator}
   * @param lowBytes at least
   * @param bytes the estimate; {@code NaN} where only bounds are known
   * @param highBytes at most
   * @param sentence the same in words, or why it is not estimated
   */
  public record Effect(
      String measure, double lowBytes, double bytes, double highBytes, String sentence) {}

  /** The most call sites that {@link #sites} holds. */
  public static final int MOST_SITES = 10;

  public PinnedMemory {
    sites = List.copyOf(sites);
    effects = List.copyOf(effects);
  }
}
