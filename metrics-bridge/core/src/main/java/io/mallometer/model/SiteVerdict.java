package io.mallometer.model;

import java.time.Instant;
import java.util.List;

/**
 * What the memory that a call site holds is. Sites of one name that each have too few samples are
 * judged together; the number and the stack are then those of the one with most suspected bytes.
 *
 * @param verdict the verdict
 * @param site the site's name
 * @param library the library that asked for the memory
 * @param number the call site's number
 * @param stacks how many call sites are judged together; 1 for a site of its own
 * @param frames the allocation stack, innermost first
 * @param sentence the verdict in plain words
 * @param confidence how likely the verdict {@link Verdict#LEAK} is right, by how often it was in
 *     simulations; {@code NaN} for others
 * @param suspectedBytes bytes in objects that nobody touched for {@link #thresholdSeconds()} or
 *     longer; {@code NaN} without slots. Of a healthy site as the latest evaluation found them
 * @param suspectedObjects those objects
 * @param liveBytes bytes in use
 * @param growthBytesPerHour what is suspected more each hour, or for {@link Verdict#GROWING} live;
 *     {@code NaN} for others, or if unknown
 * @param thresholdSeconds the idle time from which on objects of this site are suspected; {@code
 *     NaN} without slots
 * @param idleSeconds the smallest idle time among those suspected; {@code NaN} if none is
 * @param medianAgeSeconds the age that half of the suspected, or without slots of the live bytes
 *     exceed; {@code NaN} if unknown
 * @param oldestSeconds the age of the oldest of them
 * @param shareOfLimit suspected bytes as a share of the memory limit; {@code NaN} without one
 * @param secondsToLimit when the limit is reached if the site alone grows on like this; {@code NaN}
 *     if unknown
 * @param evidence on what the verdict stands
 * @param since since when it is this verdict; of a site that never had another, since when sites
 *     are judged
 * @param lastAccess where an object of the site was last used
 * @param lastWrite where one was last written
 * @param acknowledged whether this site is known to be fine
 */
public record SiteVerdict(
    Verdict verdict,
    String site,
    String library,
    int number,
    int stacks,
    List<StackFrame> frames,
    String sentence,
    double confidence,
    Estimate suspectedBytes,
    Estimate suspectedObjects,
    double liveBytes,
    double growthBytesPerHour,
    double thresholdSeconds,
    double idleSeconds,
    double medianAgeSeconds,
    double oldestSeconds,
    double shareOfLimit,
    double secondsToLimit,
    LeakEvidence evidence,
    Instant since,
    LastUse lastAccess,
    LastUse lastWrite,
    boolean acknowledged) {

  public SiteVerdict {
    frames = List.copyOf(frames);
  }

  /** The same with or without somebody's word that the site is fine. */
  public SiteVerdict acknowledged(boolean fine) {
    return new SiteVerdict(
        verdict,
        site,
        library,
        number,
        stacks,
        frames,
        sentence,
        confidence,
        suspectedBytes,
        suspectedObjects,
        liveBytes,
        growthBytesPerHour,
        thresholdSeconds,
        idleSeconds,
        medianAgeSeconds,
        oldestSeconds,
        shareOfLimit,
        secondsToLimit,
        evidence,
        since,
        lastAccess,
        lastWrite,
        fine);
  }

  /** Whether it is a leak of which nobody said that it is fine. */
  public boolean alarming() {
    return verdict == Verdict.LEAK && !acknowledged;
  }
}
