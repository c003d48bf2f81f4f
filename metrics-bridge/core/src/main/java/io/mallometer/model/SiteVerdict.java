package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.BYTES_PER_HOUR;
import static io.mallometer.model.Figure.Unit.BYTES_PER_SECOND;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.RATIO;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The verdict on the memory of a call site, with its evidence. */
public record SiteVerdict(
    @Figure("The verdict") Verdict verdict,
    @Figure(
            "The time from which on the verdict holds; for a site that never had another "
                + "verdict, the first evaluation")
        Instant since,
    @Figure("The verdict in plain words") String sentence,
    @Figure("The call site") Site site,
    @Figure("The lost or idle objects; of a healthy site by the latest evaluation")
        Suspected suspected,
    @Figure("The live bytes of the site and their growth") Growth growth,
    @Figure("The grounds of the verdict") Grounds grounds,
    @Figure("Whether a person acknowledged the site") boolean acknowledged) {

  /**
   * Call sites that have the same name and library. They share one verdict, and {@code number} and
   * {@code frames} are those of the call site on which the verdict is based.
   */
  public record Site(
      @Figure("The site's name") String name,
      @Figure("The library that asked for the memory") String library,
      @Figure("The call site's number") int number,
      @Figure(value = "How many call sites there are", unit = COUNT) int stacks,
      @Figure("The allocation stack, innermost first") List<StackFrame> frames,
      @Figure("Stacks of the other call sites, most bytes first, at most nine")
          List<Stack> others) {

    /** The largest number of {@link #others}. */
    public static final int MOST_OTHERS = 9;

    public Site {
      frames = List.copyOf(frames);
      others = List.copyOf(others.subList(0, Math.min(MOST_OTHERS, others.size())));
    }

    /** Creates a site whose only known stack is {@code frames}; {@link #others} is empty. */
    public Site(String name, String library, int number, int stacks, List<StackFrame> frames) {
      this(name, library, number, stacks, frames, List.of());
    }

    /** Returns the part of the process that the call site belongs to. */
    public CodeOwner codeOwner() {
      return CodeOwner.of(name, frames);
    }
  }

  /** A stack of a site that has several stacks. */
  public record Stack(
      @Figure("The call site's number") int number,
      @Figure(value = "Its live bytes", unit = BYTES) double liveBytes,
      @Figure("The allocation stack, innermost first") List<StackFrame> frames) {

    public Stack {
      frames = List.copyOf(frames);
    }
  }

  /**
   * The suspected objects: live objects that have been idle for {@link #thresholdSeconds()} or
   * longer. The figures are estimated from the observed objects. They do not include objects above
   * 16 MiB, or objects allocated before the observation began.
   *
   * <p>With the evidence {@link LeakEvidence#LOST}, two searches have determined the share of lost
   * objects. The figures are then the larger of two estimates: the lost share of all live objects,
   * or the idle objects plus the lost share of objects too young to be idle.
   */
  public record Suspected(
      @Figure(
              value = "The bytes of the suspected objects; unknown without slots",
              unit = BYTES,
              always = true)
          Estimate bytes,
      @Figure(value = "The number of suspected objects; unknown without slots", unit = COUNT)
          Estimate objects,
      @Figure(
              value =
                  "The idle time from which on objects of this site are suspected; unknown "
                      + "without slots, and for lost objects",
              unit = SECONDS)
          double thresholdSeconds,
      @Figure(
              value =
                  "The smallest idle time of a suspected object; unknown if there are none, and "
                      + "for lost objects",
              unit = SECONDS)
          double idleSeconds,
      @Figure(
              value =
                  "The age that half of the suspected bytes exceed, or half of the live bytes "
                      + "if no object is idle; absent if unknown",
              unit = SECONDS)
          double medianAgeSeconds,
      @Figure(value = "The age of the oldest suspected object", unit = SECONDS)
          double oldestSeconds) {

    /**
     * Returns these objects with an upper limit for the 95 % interval of {@code bytes}.
     *
     * @param wholeBytes the limit; {@code NaN} if unknown
     */
    public Suspected atMost(double wholeBytes) {
      return new Suspected(
          bytes.atMost(wholeBytes),
          objects,
          thresholdSeconds,
          idleSeconds,
          medianAgeSeconds,
          oldestSeconds);
    }

    /** Returns these objects with the given ages. */
    public Suspected withAges(CallSite.Ages ages) {
      return new Suspected(
          bytes, objects, thresholdSeconds, idleSeconds, ages.median(), ages.oldest());
    }
  }

  /**
   * The live memory of a site, and its growth. Live memory is not always resident, so these bytes
   * cannot be compared with a memory limit.
   */
  public record Growth(
      @Figure(value = "Its live bytes", unit = BYTES) double liveBytes,
      @Figure(
              value =
                  "The rise of live bytes in an hour, at the rate of the last minutes; 0 if "
                      + "they do not rise; absent if unknown, and for verdicts other than "
                      + "leak, unused and growing",
              unit = BYTES_PER_HOUR,
              always = true)
          double bytesPerHour,
      @Figure(
              "The time since which a leak or unused memory has not grown; empty if it "
                  + "grows or this is unknown, and for other verdicts")
          Optional<Instant> stopped) {}

  /** The evidence for a verdict. */
  public record Grounds(
      @Figure("What was observed of the objects") LeakEvidence evidence,
      @Figure(
              value =
                  "How likely the verdict leak is right, by how often it was in simulations; "
                      + "unknown for others, and where memory is lost",
              unit = RATIO)
          double confidence,
      @Figure("Where an object of the site was last used") LastUse lastAccess,
      @Figure("Where an object of the site was last written") LastUse lastWrite,
      @Figure("What garbage collections tell about the objects") Garbage garbage) {

    /** Creates the evidence for a verdict, with {@link Garbage#NONE}. */
    public Grounds(
        LeakEvidence evidence, double confidence, LastUse lastAccess, LastUse lastWrite) {
      this(evidence, confidence, lastAccess, lastWrite, Garbage.NONE);
    }
  }

  /** The objects of a site that only wait for a garbage collection. */
  public record Garbage(
      @Figure("What past collections tell") GarbageAnswer answer,
      @Figure(
              value = "The bytes that an old collection would free; 0 unless the answer is old",
              unit = BYTES)
          Estimate bytes,
      @Figure(
              value =
                  "The bytes that become garbage for an old collection each second; 0 unless the answer is old",
              unit = BYTES_PER_SECOND)
          double bytesPerSecond,
      @Figure(value = "The old collections that were observed", unit = COUNT) int oldCollections,
      @Figure(
              value = "The time since the last old collection, or since the observation began",
              unit = SECONDS)
          double lastOldSeconds) {

    /** The value if no cleaner is known to free the objects. */
    public static final Garbage NONE =
        new Garbage(GarbageAnswer.NONE, Estimate.ZERO, 0, 0, Double.NaN);

    /** Returns whether collections free at least a part of the objects. */
    public boolean isFreedByCollections() {
      return answer == GarbageAnswer.YOUNG || answer == GarbageAnswer.OLD;
    }
  }

  /** Returns this verdict, marked as acknowledged or as not acknowledged. */
  public SiteVerdict acknowledged(boolean acknowledged) {
    return new SiteVerdict(
        verdict, since, sentence, site, suspected, growth, grounds, acknowledged);
  }

  /** Returns whether the site is a leak of the application and is not acknowledged. */
  public boolean alarming() {
    return verdict == Verdict.LEAK && !acknowledged && site.codeOwner() == CodeOwner.APPLICATION;
  }

  /** Returns whether the site grew in the last minutes. */
  public boolean grows() {
    return growth.bytesPerHour() > 0;
  }
}
