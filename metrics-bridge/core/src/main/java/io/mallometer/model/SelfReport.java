package io.mallometer.model;

import java.time.Instant;
import java.util.Optional;

/**
 * Version, mode and cost of mallometer itself.
 *
 * @param build the native library's version, such as {@code "0.1.0"}; {@value #UNKNOWN} without it
 * @param allocator the object that serves the allocations, such as {@code "glibc 2.36"} or {@code
 *     "jemalloc 5.3.0"}; without the library {@value #UNKNOWN}, or {@code "musl"} where musl is the
 *     C library
 * @param mode how the library came to count: {@code "preload"}, {@code "attached"} or {@code
 *     "none"}
 * @param since when counting began: the start of the process, or the attach; empty without the
 *     library
 * @param attachment how an attach went; empty if there was none
 * @param byteUnit the unit of allocated, freed and live bytes
 * @param footprintBytes memory that the native library has mapped in this process, resident or not:
 *     its image with its tables, and its thread blocks; {@code NaN} without it
 * @param overheadSeconds time that samples took, estimated by what they did; time that passed, not
 *     processor time, while the counters of the process were read since it started, and while polls
 *     decoded them here; and processor time of the library's threads; only grows. Brackets of a
 *     thread, and the counting itself, some nanoseconds within each malloc, are not in it. {@code
 *     NaN} without the library
 * @param pollSeconds how long the reading of this snapshot took; {@code NaN} without the library
 * @param threadsWithoutBlock threads that share one slower counter block because the table of
 *     65,536 blocks was full; {@code NaN} without the library
 * @param hugeThresholdBytes requests above this size count as {@link
 *     NativeCounters#hugeAllocations()}; {@code NaN} without the library
 * @param sampling what the library looked at closely
 * @param remark why the state is what it is, or what is off and why; empty if nothing is
 */
public record SelfReport(
    String build,
    String allocator,
    String mode,
    Optional<Instant> since,
    Optional<Attachment> attachment,
    ByteUnit byteUnit,
    double footprintBytes,
    double overheadSeconds,
    double pollSeconds,
    double threadsWithoutBlock,
    double hugeThresholdBytes,
    Sampling sampling,
    String remark) {

  /**
   * Samples of the library since the process started. All {@code NaN} without it, and while it
   * samples nothing.
   *
   * @param intervalBytes how many bytes are allocated for each sample, on average; 1 if every
   *     allocation is one
   * @param samples allocations that were looked at
   * @param withoutSite those of call sites for which there was no room
   * @param notFollowed those that could not be followed until they are freed
   * @param bySizeOnly allocations that the sampler stopped at, one in up to 128, and whose call
   *     path was not told apart from others, because there was no room to do so: of them only the
   *     size decided whether they were looked at
   * @param overheadTarget the share of one processor's time that samples may take; {@code NaN} if
   *     they may take any
   * @param share what is left of the probabilities with which rare code is looked at, so that the
   *     target is kept; 1 if all
   * @param tableBytes the part of {@link SelfReport#footprintBytes()} that call sites take; 0 if
   *     they are not recorded
   * @param slots where the sampled objects lie that are on pages of their own
   */
  public record Sampling(
      double intervalBytes,
      double samples,
      double withoutSite,
      double notFollowed,
      double bySizeOnly,
      double overheadTarget,
      double share,
      double tableBytes,
      SlotPages slots) {

    /** Sampling of a library that is not loaded or samples nothing. */
    public static final Sampling OFF =
        new Sampling(
            Double.NaN,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            Double.NaN,
            SlotPages.NONE);
  }

  /**
   * The addresses that the library reserves for sampled objects on pages of their own, whose use it
   * observes.
   *
   * @param address the first address; 0 without any
   * @param reservedBytes how far they reach
   * @param takenBytes whole pages of the objects that lie there
   * @param excessBytes the part of these pages, and of {@link SelfReport#footprintBytes()}, that is
   *     beyond the bytes of the objects
   */
  public record SlotPages(long address, long reservedBytes, long takenBytes, long excessBytes) {

    /** No addresses are reserved. */
    public static final SlotPages NONE = new SlotPages(0, 0, 0, 0);
  }

  /** The {@link #mode()} of a process that was started with the library. */
  public static final String PRELOAD = "preload";

  /** Mode of a process to which the library was attached. */
  public static final String ATTACHED = "attached";

  /** Mode of a process that is not counted. */
  public static final String NONE = "none";

  /** Placeholder for a name that only the library knows. */
  public static final String UNKNOWN = "unknown";

  /** The report of a process without the library. */
  public static SelfReport absent() {
    return absent(UNKNOWN);
  }

  /** Creates the report of a process without the library whose allocator is known. */
  public static SelfReport absent(String allocator) {
    return new SelfReport(
        UNKNOWN,
        allocator,
        NONE,
        Optional.empty(),
        Optional.empty(),
        ByteUnit.UNKNOWN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Sampling.OFF,
        "");
  }
}
