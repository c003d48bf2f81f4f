package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * Free memory that lies between live objects, estimated from the free chunks beside live samples:
 * which call sites keep glibc from giving it back. What is free at the end of a heap is not in it.
 *
 * @param time when it was read
 * @param sentence the result in one sentence, or why there is none
 * @param bytes resident free memory between objects; not a number if unknown
 * @param returnableBytes the part of it that a trim would give back, page by page
 * @param stuckBytes the part of it that no trim gives back
 * @param sites the call sites with the most of it, at most {@value #MOST_SITES}; empty if there is
 *     not enough evidence
 * @param costSeconds how long the reading took
 */
public record PinnedMemory(
    Instant time,
    String sentence,
    Estimate bytes,
    Estimate returnableBytes,
    Estimate stuckBytes,
    List<PinningSite> sites,
    double costSeconds) {

  /** The most call sites that {@link #sites} holds. */
  public static final int MOST_SITES = 10;

  public PinnedMemory {
    sites = List.copyOf(sites);
  }
}
