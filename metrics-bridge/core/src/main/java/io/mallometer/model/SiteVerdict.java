package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Verdict on the memory of a call site.
 *
 * @param verdict the verdict
 * @param since since when it is this verdict; of a site that never had another, since when sites
 *     are judged
 * @param sentence the verdict in plain words
 * @param site what is judged
 * @param suspected the lost or idle objects. Of a healthy site as the latest evaluation found them
 * @param growth how much the site holds, and how fast that becomes more
 * @param grounds on what the verdict stands
 * @param acknowledged whether this site is known to be fine
 */
public record SiteVerdict(
    Verdict verdict,
    Instant since,
    String sentence,
    Site site,
    Suspected suspected,
    Growth growth,
    Grounds grounds,
    boolean acknowledged) {

  /**
   * The call sites of one name and library that have a verdict in common. The number and the stack
   * are those of the one on which the verdict stands.
   *
   * @param name the site's name
   * @param library the library that asked for the memory
   * @param number the call site's number
   * @param stacks how many call sites there are
   * @param frames the allocation stack, innermost first
   * @param others stacks of the other call sites, most bytes first, at most {@value #MOST_OTHERS}
   */
  public record Site(
      String name,
      String library,
      int number,
      int stacks,
      List<StackFrame> frames,
      List<Stack> others) {

    /** Most stacks that are listed beside the one of the verdict. */
    public static final int MOST_OTHERS = 9;

    public Site {
      frames = List.copyOf(frames);
      others = List.copyOf(others.subList(0, Math.min(MOST_OTHERS, others.size())));
    }

    /** A site whose other stacks are not known. */
    public Site(String name, String library, int number, int stacks, List<StackFrame> frames) {
      this(name, library, number, stacks, frames, List.of());
    }

    /** Returns the part of the process that the call site belongs to. */
    public Owner owner() {
      return Owner.of(name, frames);
    }
  }

  /**
   * One stack of a call site that has several.
   *
   * @param number the call site's number
   * @param liveBytes its live bytes
   * @param frames the allocation stack, innermost first
   */
  public record Stack(int number, double liveBytes, List<StackFrame> frames) {

    public Stack {
      frames = List.copyOf(frames);
    }
  }

  /**
   * The objects on which the verdict stands: those that are idle for {@link #thresholdSeconds()} or
   * longer. They are estimated as the idle share of the observed objects, of the live objects of
   * that age, without objects above 16 MiB and without objects that were allocated before
   * observation began. A leak with the evidence {@link LeakEvidence#LOST} has lost these, and of
   * its other live objects the share that two searches found to be lost.
   *
   * @param bytes their bytes; {@code NaN} without slots
   * @param objects how many they are; {@code NaN} without slots
   * @param thresholdSeconds the idle time from which on objects of this site are suspected; {@code
   *     NaN} without slots, and of lost objects
   * @param idleSeconds the smallest idle time among them; {@code NaN} if there are none, and of
   *     lost objects
   * @param medianAgeSeconds the age that half of their bytes, or without idle objects half of the
   *     live bytes exceed; {@code NaN} if unknown
   * @param oldestSeconds the age of the oldest of them
   */
  public record Suspected(
      Estimate bytes,
      Estimate objects,
      double thresholdSeconds,
      double idleSeconds,
      double medianAgeSeconds,
      double oldestSeconds) {

    /** The same, of a whole of so many bytes. */
    public Suspected atMost(double wholeBytes) {
      return new Suspected(
          bytes.atMost(wholeBytes),
          objects,
          thresholdSeconds,
          idleSeconds,
          medianAgeSeconds,
          oldestSeconds);
    }

    /** The same with the ages of other objects. */
    public Suspected withAges(CallSite.Ages ages) {
      return new Suspected(
          bytes, objects, thresholdSeconds, idleSeconds, ages.median(), ages.oldest());
    }
  }

  /**
   * Live memory of a site, and its growth.
   *
   * @param liveBytes its live bytes
   * @param bytesPerHour how many more are live each hour, by the last minutes, of a leak and of
   *     what is unused or growing; 0 if there are not more; {@code NaN} for others, or if unknown
   * @param shareOfLimit suspected bytes, or for {@link Verdict#GROWING} live ones, as a share of
   *     the memory limit; {@code NaN} without one
   * @param secondsToLimit when the limit is reached if the site alone grows on like this; {@code
   *     NaN} if unknown
   * @param stopped since when a leak or what is unused has not grown; empty if it grows, for
   *     others, or if unknown
   */
  public record Growth(
      double liveBytes,
      double bytesPerHour,
      double shareOfLimit,
      double secondsToLimit,
      Optional<Instant> stopped) {

    /** Growth that continues, or is not known. */
    public Growth(
        double liveBytes, double bytesPerHour, double shareOfLimit, double secondsToLimit) {
      this(liveBytes, bytesPerHour, shareOfLimit, secondsToLimit, Optional.empty());
    }
  }

  /**
   * The evidence for a verdict.
   *
   * @param evidence what was observed of the objects
   * @param confidence how likely the verdict {@link Verdict#LEAK} is right, by how often it was in
   *     simulations; {@code NaN} for others, and where memory is lost
   * @param lastAccess where an object of the site was last used
   * @param lastWrite where one was last written
   */
  public record Grounds(
      LeakEvidence evidence, double confidence, LastUse lastAccess, LastUse lastWrite) {}

  /** Returns the same verdict, acknowledged or not. */
  public SiteVerdict acknowledged(boolean fine) {
    return new SiteVerdict(verdict, since, sentence, site, suspected, growth, grounds, fine);
  }

  /** Returns whether it is a leak of the application that is not acknowledged. */
  public boolean alarming() {
    return verdict == Verdict.LEAK && !acknowledged && site.owner() == Owner.APPLICATION;
  }

  /** Returns whether the site grew in the last minutes. */
  public boolean grows() {
    return growth.bytesPerHour() > 0;
  }
}
