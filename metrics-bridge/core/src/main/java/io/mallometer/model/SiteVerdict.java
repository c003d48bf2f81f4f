package io.mallometer.model;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Verdict on the memory of a call site.
 *
 * @param verdict the verdict
 * @param since the time from which on the verdict holds; for a site that never had another verdict,
 *     the first evaluation
 * @param sentence the verdict in plain words
 * @param site the call site
 * @param suspected the lost or idle objects; of a healthy site by the latest evaluation
 * @param growth the live bytes of the site and their growth
 * @param grounds the grounds of the verdict
 * @param acknowledged whether a person acknowledged the site
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
   * The suspected objects: those that are idle for {@link #thresholdSeconds()} or longer. They are
   * an estimate: the live objects of that age, times the idle share of the observed ones. Objects
   * above 16 MiB and objects from before the observation are left out. For a leak with the evidence
   * {@link LeakEvidence#LOST} the suspected objects also contain the other live objects, times the
   * share that two searches found to be lost.
   *
   * @param bytes the bytes of the suspected objects; {@code NaN} without slots
   * @param objects the number of suspected objects; {@code NaN} without slots
   * @param thresholdSeconds the idle time from which on objects of this site are suspected; {@code
   *     NaN} without slots, and for lost objects
   * @param idleSeconds the smallest idle time of a suspected object; {@code NaN} if there are none,
   *     and for lost objects
   * @param medianAgeSeconds the age that half of the suspected bytes exceed, or half of the live
   *     bytes if no object is idle; {@code NaN} if unknown
   * @param oldestSeconds the age of the oldest suspected object
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
   * The live memory of a site, and its growth. Both are bytes that the program asked for. It is not
   * known how many of them are resident, so they are not compared with a memory limit.
   *
   * @param liveBytes its live bytes
   * @param bytesPerHour the rise of live bytes in an hour, at the rate of the last minutes; 0 if
   *     they do not rise; {@code NaN} if unknown, and for verdicts other than leak, unused and
   *     growing
   * @param stopped the time since which a leak or unused memory has not grown; empty if it grows or
   *     this is unknown, and for other verdicts
   */
  public record Growth(double liveBytes, double bytesPerHour, Optional<Instant> stopped) {}

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
