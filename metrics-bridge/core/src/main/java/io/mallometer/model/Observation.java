package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.util.List;
import java.util.Locale;

/** Whether accesses to objects are observed, and what the observation costs. */
public record Observation(
    @Figure("Whether it works") State state,
    @Figure("What is off and why; empty if nothing is") String reason,
    @Figure(value = "How long use was observed", inline = true) Period period,
    @Figure(value = "The memory of the slots", inline = true) Space space,
    @Figure("By size, smallest first") List<Slots> slots,
    @Figure(value = "How many objects have slots", inline = true) Placement placement,
    @Figure("Why the place of the last use cannot be looked for; empty if it can")
        String watchReason,
    @Figure("What the latest search for lost memory came to, or why there was none")
        String lostMemory) {

  /** Whether accesses to objects are observed. */
  public enum State implements Tagged {
    /** The observation was not requested, or {@code MALLOMETER_LEAKS=off} forbids it. */
    OFF,
    /** The library is testing how it can observe accesses on this system. */
    STARTING,
    /** Accesses are seen. */
    ON,
    /** Accesses cannot be seen; the reason says why. */
    FAILED;

    /** Returns the name in JSON. */
    @Override
    public String tag() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The time during which accesses to objects were observed. It consists of epochs. The library
   * reads the accessed bits of the pages repeatedly, and an epoch is the time between two
   * successive readings.
   *
   * @param startedNanos the start of the first epoch by {@link System#nanoTime()}; 0 if no epoch
   *     has started
   * @param epochEndNanos the end of the latest epoch with a result; 0 if there is none
   */
  public record Period(
      @Figure("How accessed bits are cleared: cold or clear_refs; empty while off") String method,
      long startedNanos,
      long epochEndNanos,
      @Figure(value = "The planned length of the present epoch", unit = SECONDS)
          double epochSeconds,
      @Figure(value = "Epochs that ended", unit = COUNT) long epochs,
      @Figure(
              value = "Epochs in which the kernel itself cleared accessed bits: they say nothing",
              unit = COUNT)
          long voidEpochs,
      @Figure(value = "Processor time that the observation took", unit = SECONDS)
          double cpuSeconds) {

    /** The value for a process in which nothing is observed. */
    public static final Period NONE = new Period("", 0, 0, Double.NaN, 0, 0, 0);
  }

  /**
   * The memory of slots (pages for single sampled objects).
   *
   * @param arenaBytes the reserved address space in bytes
   */
  public record Space(
      long arenaBytes,
      @Figure(value = "Resident memory of slots in whole pages", unit = BYTES) long residentBytes,
      @Figure(
              value = "The most that slots may take beyond the bytes of their objects",
              unit = BYTES)
          long limitBytes) {}

  /** The numbers of sampled objects with and without a slot (a page of their own). */
  public record Placement(
      @Figure(value = "Sampled objects that were put into slots", unit = COUNT) long placed,
      @Figure(value = "Sampled objects for which no slot or memory was left", unit = COUNT)
          long notPlaced,
      @Figure(value = "Sampled objects that are larger than the largest slot", unit = COUNT)
          long tooLarge) {}

  /** Slots (pages for single sampled objects) of one size. */
  public record Slots(
      @Figure(value = "Their size", unit = BYTES) long bytes,
      @Figure(value = "How many there are", unit = COUNT) int count,
      @Figure(value = "Slots that hold an object", unit = COUNT) int inUse) {}

  public Observation {
    slots = List.copyOf(slots);
  }

  /** Returns the observation of a process in which nothing is observed. */
  public static Observation off(String reason) {
    return new Observation(
        State.OFF,
        reason,
        Period.NONE,
        new Space(0, 0, 0),
        List.of(),
        new Placement(0, 0, 0),
        reason,
        reason);
  }

  /**
   * Returns this observation with a sentence about the latest search for memory to which no pointer
   * exists any more ({@link #lostMemory}).
   */
  public Observation withLostMemory(String words) {
    return new Observation(state, reason, period, space, slots, placement, watchReason, words);
  }

  /** Returns whether at least one reading of the pages' accessed bits had a result. */
  public boolean hasSeen() {
    return state == State.ON
        && period.startedNanos() != 0
        && period.epochEndNanos() > period.startedNanos();
  }
}
