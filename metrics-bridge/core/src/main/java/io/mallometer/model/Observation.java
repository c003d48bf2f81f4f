package io.mallometer.model;

import java.util.List;
import java.util.Locale;

/**
 * State of the observation of objects: whether accesses are seen, and the cost.
 *
 * @param state whether it works
 * @param reason what is off and why; empty if nothing is
 * @param method by what accessed bits are cleared: {@code cold}, {@code clear_refs}; empty while
 *     off
 * @param startedNanos when the first epoch began, by {@link System#nanoTime()}; 0 before
 * @param epochEndNanos when the latest epoch ended that says something, by the same clock; 0 before
 * @param epochSeconds how long the present epoch is to be
 * @param epochs epochs that ended
 * @param voidEpochs those of them in which the kernel itself cleared accessed bits: they say
 *     nothing
 * @param cpuSeconds processor time that it took
 * @param arenaBytes address space that is reserved for slots
 * @param residentBytes what of it slots take in whole pages
 * @param limitBytes what they may take beyond the bytes of their objects
 * @param slots by size, smallest first
 * @param placed sampled objects that were put into slots
 * @param notPlaced those for which no slot or memory was left
 * @param tooLarge those that are larger than the largest slot
 * @param watchReason why the place of the last use cannot be looked for; empty if it can
 * @param lostMemory what the latest search for lost memory came to, or why there was none
 */
public record Observation(
    State state,
    String reason,
    String method,
    long startedNanos,
    long epochEndNanos,
    double epochSeconds,
    long epochs,
    long voidEpochs,
    double cpuSeconds,
    long arenaBytes,
    long residentBytes,
    long limitBytes,
    List<Slots> slots,
    long placed,
    long notPlaced,
    long tooLarge,
    String watchReason,
    String lostMemory) {

  /** State of the observation: whether accesses are seen. */
  public enum State implements Tagged {
    /** No reader requested it, or the environment forbids it. */
    OFF,
    /** What the system can do is being tried out. */
    STARTING,
    /** It is seen. */
    ON,
    /** It cannot be seen here; the reason says why. */
    FAILED;

    /** The name as it appears in JSON. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Slots of one size.
   *
   * @param bytes their size
   * @param count how many there are
   * @param inUse how many of them hold an object
   */
  public record Slots(long bytes, int count, int inUse) {}

  public Observation {
    slots = List.copyOf(slots);
  }

  /** No observation: nothing is observed. */
  public static Observation off(String reason) {
    return new Observation(
        State.OFF,
        reason,
        "",
        0,
        0,
        Double.NaN,
        0,
        0,
        0,
        0,
        0,
        0,
        List.of(),
        0,
        0,
        0,
        reason,
        reason);
  }

  /** Returns the same with the result of the latest search for lost memory. */
  public Observation withLostMemory(String words) {
    return new Observation(
        state,
        reason,
        method,
        startedNanos,
        epochEndNanos,
        epochSeconds,
        epochs,
        voidEpochs,
        cpuSeconds,
        arenaBytes,
        residentBytes,
        limitBytes,
        slots,
        placed,
        notPlaced,
        tooLarge,
        watchReason,
        words);
  }

  /** Returns whether at least one epoch had a result. */
  public boolean hasSeen() {
    return state == State.ON && startedNanos != 0 && epochEndNanos > startedNanos;
  }
}
