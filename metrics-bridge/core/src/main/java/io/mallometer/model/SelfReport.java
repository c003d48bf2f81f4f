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
 * @param since the time at which counting began: the start of the process, or the attach; empty
 *     without the library
 * @param attachment the result of an attach; empty if there was none
 * @param byteUnit the unit of allocated, freed and live bytes
 * @param footprintBytes memory that the native library has mapped in this process, resident or not:
 *     its image with its tables, and its thread blocks; {@code NaN} without it
 * @param overheadSeconds the sum of three times since the process started: the time of samples,
 *     estimated from their work; the elapsed time of reading the counters of the process and
 *     decoding them in polls; and the CPU time of the library's threads. It only grows. It does not
 *     include brackets of a thread, nor the counting itself, some nanoseconds in each malloc.
 *     {@code NaN} without the library
 * @param pollSeconds the time that the reading of this snapshot took; {@code NaN} without the
 *     library
 * @param threadsWithoutBlock threads that share one slower counter block because the table of
 *     65,536 blocks was full; {@code NaN} without the library
 * @param hugeThresholdBytes requests above this size count as {@link
 *     NativeCounters#hugeAllocations()}; {@code NaN} without the library
 * @param sampling the samples of the library
 * @param remark the reason of the state, or what is off and why; empty if nothing is
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
   * @param intervalBytes the mean bytes between two samples; 1 if every allocation is a sample
   * @param samples allocations that became samples
   * @param withoutSite samples of call sites for which there was no room
   * @param notFollowed samples that could not be followed until they are freed
   * @param bySizeOnly allocations at which the sampler stopped, one in up to 128, and whose call
   *     path had no room in its table: only the size decided whether they became samples
   * @param overheadTarget the share of one processor's time that samples may take; {@code NaN} if
   *     it is not limited
   * @param share the factor by which the sampler reduces the probabilities of rare code to keep the
   *     target; 1 if it does not
   * @param tableBytes the part of {@link SelfReport#footprintBytes()} that call sites take; 0 if
   *     they are not recorded
   * @param slots the addresses of the sampled objects on pages of their own
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
   * @param reservedBytes the bytes of these addresses
   * @param takenBytes the whole pages of the objects there
   * @param excessBytes the bytes of these pages beyond the objects, a part of {@link
   *     SelfReport#footprintBytes()}
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
