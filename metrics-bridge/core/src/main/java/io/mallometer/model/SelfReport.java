package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;
import static io.mallometer.model.Figure.Unit.RATIO;
import static io.mallometer.model.Figure.Unit.SECONDS;

import java.time.Instant;
import java.util.Optional;

/** The version, the mode and the cost of mallometer itself. */
public record SelfReport(
    @Figure("The native library's version, such as '0.1.0'; unknown without it") String build,
    @Figure(
            "The object that serves the allocations, such as 'glibc 2.36' or 'jemalloc "
                + "5.3.0'; without the library unknown, or 'musl' where musl is the C library")
        String allocator,
    @Figure("How the library came to count: 'preloaded', 'attached' or 'none'") String mode,
    @Figure(
            "The time at which counting began: the start of the process, or the attach; "
                + "empty without the library")
        Optional<Instant> since,
    @Figure("The result of an attach; empty if there was none") Optional<Attachment> attachment,
    @Figure("The unit of allocated, freed and live bytes") ByteUnit byteUnit,
    @Figure(
            value =
                "Memory that the native library has mapped in this process, resident or not: "
                    + "its image with its tables, and its thread blocks; unknown without it",
            unit = BYTES,
            meter = "mallometer.footprint",
            attribute = "FootprintBytes")
        double footprintBytes,
    @Figure(
            value =
                "Time of samples, estimated from their work, of reading and decoding the counters in polls, and CPU time of the library's threads, since the process started. It includes neither scopes of a thread nor the counting itself, some nanoseconds in each malloc",
            unit = SECONDS,
            grows = true,
            meter = "mallometer.overhead",
            attribute = "Overhead")
        double overheadSeconds,
    @Figure(
            value = "The time that the reading of this snapshot took; unknown without the library",
            unit = SECONDS)
        double pollSeconds,
    @Figure(
            value =
                "Threads that share one slower counter block because the table of 65,536 "
                    + "blocks was full; unknown without the library",
            unit = COUNT)
        double threadsWithoutBlock,
    @Figure(
            value = "Requests above this size count as huge; unknown " + "without the library",
            unit = BYTES)
        double hugeThresholdBytes,
    @Figure(value = "The samples of the library", grows = true) Sampling sampling,
    @Figure("The reason of the state, or what is off and why; empty if nothing is") String remark) {

  /**
   * The samples of the library since the process started. All figures are {@code NaN} while nothing
   * is sampled.
   *
   * @param share the factor, at most 1, that reduces the sampling probability of code that
   *     allocates rarely. It keeps the overhead within its target
   * @param tableBytes the part of {@link SelfReport#footprintBytes()} that call sites take; 0 if
   *     call sites are not recorded
   * @param slots the addresses that are reserved for sampled objects
   */
  public record Sampling(
      @Figure(
              value = "The mean bytes between two samples; 1 if every allocation is a sample",
              unit = BYTES)
          double intervalBytes,
      @Figure(
              value = "Sampled native allocations",
              unit = COUNT,
              grows = true,
              meter = "mallometer.samples",
              attribute = "Samples")
          double samples,
      @Figure(value = "Samples that lack something", inline = true) Missed missed,
      @Figure(
              value =
                  "Share of the time of one processor that samples may take; unknown if it is not limited",
              unit = RATIO,
              meter = "mallometer.overhead.target",
              attribute = "OverheadTarget")
          double overheadTarget,
      double share,
      double tableBytes,
      SlotPages slots,
      @Figure(value = "Addresses that the program mapped", grows = true) Ranges ranges) {

    /** The values of a library that is not loaded or samples nothing. */
    public static final Sampling OFF =
        new Sampling(
            Double.NaN,
            Double.NaN,
            new Missed(Double.NaN, Double.NaN, Double.NaN),
            Double.NaN,
            Double.NaN,
            Double.NaN,
            SlotPages.NONE,
            Ranges.NONE);
  }

  /** The numbers of incomplete samples, by what they lack. */
  public record Missed(
      @Figure(
              value = "Samples whose call site had no room in the table",
              unit = COUNT,
              grows = true)
          double noSite,
      @Figure(
              value = "Samples that could not be followed until they are freed",
              unit = COUNT,
              grows = true)
          double notFollowed,
      @Figure(
              value =
                  "Allocations at which the sampler stopped, one in up to 128, and whose call "
                      + "path had no room in its table: only the size decided whether they became "
                      + "samples",
              unit = COUNT,
              grows = true)
          double noPath) {}

  /**
   * Counts of the address ranges that the library has recorded. It records each range with the call
   * that mapped it. All figures are {@code NaN} without samples.
   */
  public record Ranges(
      @Figure(value = "Ranges that are mapped", unit = COUNT) double known,
      @Figure(
              value = "The smallest ranges, which were forgotten because 65,536 are known",
              unit = COUNT,
              grows = true)
          double forgotten,
      @Figure(
              value = "Changes that were missed, because another thread had the lock for 1 ms",
              unit = COUNT,
              grows = true)
          double missed,
      @Figure(
              value = "Mappings without a call site, because too many stacks were walked",
              unit = COUNT,
              grows = true)
          double withoutSite) {

    /** The counts of a library that records no ranges. */
    public static final Ranges NONE = new Ranges(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
  }

  /**
   * The addresses that the library reserves for slots. A slot holds one sampled object on pages of
   * its own, so that accesses to the object can be observed.
   *
   * @param address the first address; 0 if none are reserved
   * @param reservedBytes the bytes of all reserved addresses
   * @param takenBytes the bytes of the pages of used slots
   * @param excessBytes the unused bytes on the pages of used slots. They are part of {@code
   *     takenBytes} and of {@link SelfReport#footprintBytes()}
   */
  public record SlotPages(long address, long reservedBytes, long takenBytes, long excessBytes) {

    /**
     * The value if the library reserves no addresses for slots, the pages that hold one sampled
     * object each.
     */
    public static final SlotPages NONE = new SlotPages(0, 0, 0, 0);
  }

  /** The {@link #mode()} of a process that was started with the library. */
  public static final String PRELOADED = "preloaded";

  /** The {@link #mode()} of a process to which the library was attached. */
  public static final String ATTACHED = "attached";

  /** The {@link #mode()} of a process that is not counted. */
  public static final String NONE = "none";

  /**
   * The text for a name that is not known, such as the allocator of a process without the library.
   */
  public static final String UNKNOWN = "unknown";

  /** Creates the report of a process without the library. */
  public static SelfReport absent() {
    return absent(UNKNOWN);
  }

  /** Creates the report of a process that lacks the library but has a known allocator. */
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
