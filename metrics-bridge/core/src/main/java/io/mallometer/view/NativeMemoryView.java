package io.mallometer.view;

import io.mallometer.model.Attachment;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Observation;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Answer of the endpoint {@code nativememory}. Bytes are whole numbers.
 *
 * @param state {@code ACTIVE}, {@code DISABLED} or {@code UNAVAILABLE}
 * @param reason while active how the library came in and what is not counted, otherwise why nothing
 *     is counted
 * @param remedy what to do about it; empty if there is nothing to do
 * @param time when the counters were read, in ISO 8601
 * @param ageSeconds how long ago that was; {@code NaN} if there is nothing to read
 * @param diagnosis the state of the {@link DiagnosisView diagnosis}
 * @param sentence its sentence
 * @param counters what was counted since {@link Self#since()}; null unless active
 * @param allocatedBefore what was allocated before that; null without attach
 * @param holders who holds most of the live memory; null if call sites are not recorded
 * @param leaks how the observation goes on which verdicts about leaks stand
 * @param applicationVersion the version of the application; empty if it is not known
 * @param mallometer what mallometer itself is and costs
 */
public record NativeMemoryView(
    String state,
    String reason,
    String remedy,
    Instant time,
    double ageSeconds,
    String diagnosis,
    String sentence,
    @Nullable Counters counters,
    @Nullable AllocatedBefore allocatedBefore,
    @Nullable Holders holders,
    Leaks leaks,
    Optional<String> applicationVersion,
    Self mallometer)
    implements View {

  /**
   * Counts of the whole process. Allocated, freed, live and peak share the unit that {@link
   * Self#byteUnit()} names.
   *
   * @param allocations successful allocations, by {@code small} and {@code large} and their sum
   * @param frees frees
   * @param failed allocation calls that failed
   * @param requestedBytes bytes asked for
   * @param allocatedBytes bytes handed out
   * @param freedBytes bytes given back
   * @param liveBytes bytes in use; {@code NaN} if counting was off for some time, or began with an
   *     attach that could not tell what was in use
   * @param liveObjects objects in use; {@code NaN} if counting was off for some time, or began with
   *     an attach
   * @param peakBytes the most bytes in use so far; {@code NaN} if live bytes are
   * @param peakErrorBytes the true peak is at most this much above
   * @param largestRequestBytes the largest successful request; {@code NaN} until one exceeded 32
   *     KiB
   * @param hugeAllocations allocations above {@link Self#hugeThresholdBytes()}
   * @param threads threads that have counted something and have not ended
   * @param requestSizes allocations by requested size, smallest first
   */
  public record Counters(
      Allocations allocations,
      long frees,
      long failed,
      long requestedBytes,
      long allocatedBytes,
      long freedBytes,
      @Whole double liveBytes,
      @Whole double liveObjects,
      @Whole double peakBytes,
      @Whole double peakErrorBytes,
      @Whole double largestRequestBytes,
      long hugeAllocations,
      int threads,
      List<SizeClass> requestSizes) {

    private static Counters of(NativeCounters counted) {
      return new Counters(
          new Allocations(
              counted.allocations(), counted.smallAllocations(), counted.largeAllocations()),
          counted.frees(),
          counted.failed(),
          counted.requestedBytes(),
          counted.allocatedBytes(),
          counted.freedBytes(),
          counted.liveBytes(),
          counted.liveObjects(),
          counted.peakBytes(),
          counted.peakErrorBytes(),
          counted.largestRequestBytes(),
          counted.hugeAllocations(),
          counted.threads(),
          IntStream.range(0, SizeDistribution.CLASSES)
              .mapToObj(i -> SizeClass.of(counted.allocationsBySize(), i))
              .toList());
    }
  }

  /**
   * Successful allocations.
   *
   * @param total all
   * @param small of at most 4096 bytes
   * @param large of more
   */
  public record Allocations(long total, long small, long large) {}

  /**
   * Allocations of one size class.
   *
   * @param upToBytes the largest size in the class; infinite for the last, which is open
   * @param allocations successful allocations of such sizes
   */
  public record SizeClass(@Whole double upToBytes, long allocations) {

    private static SizeClass of(SizeDistribution sizes, int sizeClass) {
      return new SizeClass(SizeDistribution.upperBound(sizeClass), sizes.count(sizeClass));
    }
  }

  /**
   * Libraries and call sites with most live memory, estimated from samples.
   *
   * @param time when the call sites were read, in ISO 8601
   * @param libraries by the library that asked for it, most first, the last being {@code other}
   * @param sites by the code that asked for it, most first, the last being {@code other}
   */
  public record Holders(Instant time, List<Share> libraries, List<Share> sites) {

    private static Holders of(SiteSummary summary) {
      return new Holders(summary.time(), shares(summary.libraries()), shares(summary.sites()));
    }

    private static List<Share> shares(List<SiteSummary.Share> shares) {
      return shares.stream()
          .map(share -> new Share(share.name(), Math.round(share.liveBytes())))
          .toList();
    }
  }

  /**
   * Live memory under one name.
   *
   * @param name a library, or code
   * @param liveBytes bytes in use
   */
  public record Share(String name, long liveBytes) {}

  /**
   * Samples. All {@code NaN} while nothing is sampled.
   *
   * @param intervalBytes how many bytes are allocated for each sample, on average
   * @param samples allocations that were looked at
   * @param withoutSite those of call sites for which there was no room
   * @param notFollowed those that could not be followed until they are freed
   * @param bySizeOnly allocations whose call path was not told apart for want of room
   * @param overheadTarget the share of one processor's time that samples may take
   */
  public record Sampling(
      @Whole double intervalBytes,
      @Whole double samples,
      @Whole double withoutSite,
      @Whole double notFollowed,
      @Whole double bySizeOnly,
      double overheadTarget) {

    private static Sampling of(SelfReport.Sampling sampling) {
      return new Sampling(
          sampling.intervalBytes(),
          sampling.samples(),
          sampling.withoutSite(),
          sampling.notFollowed(),
          sampling.bySizeOnly(),
          sampling.overheadTarget());
    }
  }

  /**
   * Version, mode and cost of mallometer itself.
   *
   * @param build the native library's version
   * @param allocator the object that serves the allocations
   * @param mode how the library came to count: {@code preload}, {@code attached} or {@code none}
   * @param since when counting began, in ISO 8601; empty if it did not
   * @param attachment how an attach went; null if there was none
   * @param byteUnit what one byte of allocated, freed, live and peak means
   * @param footprintBytes memory that the native library occupies at most
   * @param overheadSeconds time spent on samples and on reading, decoding and recording the
   *     counters so far
   * @param pollSeconds the time that the latest reading took
   * @param threadsWithoutBlock threads that share one slower counter block
   * @param hugeThresholdBytes requests above this size are huge
   * @param sampling the samples of the library
   * @param remark what is off and why; empty if nothing is
   */
  public record Self(
      String build,
      String allocator,
      String mode,
      Optional<Instant> since,
      @Nullable Attached attachment,
      String byteUnit,
      @Whole double footprintBytes,
      double overheadSeconds,
      double pollSeconds,
      @Whole double threadsWithoutBlock,
      @Whole double hugeThresholdBytes,
      Sampling sampling,
      String remark) {

    private static Self of(SelfReport self) {
      return new Self(
          self.build(),
          self.allocator(),
          self.mode(),
          self.since(),
          self.attachment().map(Attached::of).orElse(null),
          self.byteUnit().tag(),
          self.footprintBytes(),
          self.overheadSeconds(),
          self.pollSeconds(),
          self.threadsWithoutBlock(),
          self.hugeThresholdBytes(),
          Sampling.of(self.sampling()),
          self.remark());
    }
  }

  /**
   * Result of an attach.
   *
   * @param complete whether no call is known to be missed
   * @param gaps the known gaps, in words; empty if there are none
   * @param words pointers to malloc and its relatives that lead to mallometer
   * @param wordsRefused pointers that the system did not let change, whose calls are not counted
   * @param callsUnseen places from which the program calls malloc past all such pointers
   * @param lockSeconds the time that threads that load libraries had to wait
   * @param driftBytes the live bytes that glibc reports less those counted; 0 before the first
   *     comparison
   * @param driftBoundBytes the largest normal difference: the errors of both readings, and the
   *     memory that glibc and the loader allocate for threads; 0 before the first comparison
   */
  public record Attached(
      boolean complete,
      String gaps,
      int words,
      int wordsRefused,
      int callsUnseen,
      double lockSeconds,
      long driftBytes,
      long driftBoundBytes) {

    private static Attached of(Attachment attachment) {
      return new Attached(
          attachment.complete(),
          attachment.gaps(),
          attachment.words(),
          attachment.wordsRefused(),
          attachment.callsUnseen(),
          attachment.lockSeconds(),
          (long) attachment.driftBytes(),
          (long) attachment.driftBoundBytes());
    }
  }

  /**
   * State of the observation of objects.
   *
   * @param state {@code off}, {@code starting}, {@code on} or {@code failed}
   * @param reason what is off and why; empty if nothing is
   * @param method by what accessed bits are cleared: {@code cold}, {@code clear_refs}; empty while
   *     off
   * @param since when the first epoch began, in ISO 8601; empty before
   * @param epochs epochs that ended
   * @param voidEpochs those in which the kernel itself cleared accessed bits
   * @param epochSeconds how long the present epoch is to be
   * @param cpuSeconds processor time that it took
   * @param residentBytes memory of slots, in whole pages
   * @param limitBytes what they may take beyond the bytes of their objects
   * @param slots slots by size, smallest first
   * @param placed sampled objects that were put into slots
   * @param notPlaced those for which no slot or memory was left
   * @param tooLarge those that are larger than the largest slot
   * @param watchReason why the place of the last use cannot be looked for; empty if it can
   * @param lostMemory what the latest search for lost memory came to, or why there was none
   * @param sites how many call sites have a verdict; null if nothing is observed
   * @param suspected what the worst leaks keep, by name, most first, the last being {@code other};
   *     empty if nothing leaks
   * @param unused the same of the sites with the verdict unused
   */
  public record Leaks(
      String state,
      String reason,
      String method,
      Optional<Instant> since,
      long epochs,
      long voidEpochs,
      double epochSeconds,
      double cpuSeconds,
      long residentBytes,
      long limitBytes,
      List<Observation.Slots> slots,
      long placed,
      long notPlaced,
      long tooLarge,
      String watchReason,
      String lostMemory,
      @Nullable Verdicts sites,
      List<Share> suspected,
      List<Share> unused) {

    private static Leaks of(Observation observation, Optional<LeakSummary> summary, Clock clock) {
      return new Leaks(
          observation.state().tag(),
          observation.reason(),
          observation.method(),
          observation.startedNanos() == 0
              ? Optional.empty()
              : Optional.of(
                  clock
                      .instant()
                      .minusNanos(System.nanoTime() - observation.startedNanos())
                      .truncatedTo(ChronoUnit.MINUTES)),
          observation.epochs(),
          observation.voidEpochs(),
          observation.epochSeconds(),
          observation.cpuSeconds(),
          observation.residentBytes(),
          observation.limitBytes(),
          observation.slots(),
          observation.placed(),
          observation.notPlaced(),
          observation.tooLarge(),
          observation.watchReason(),
          observation.lostMemory(),
          summary.map(Verdicts::of).orElse(null),
          Holders.shares(summary.map(LeakSummary::suspected).orElse(List.of())),
          Holders.shares(summary.map(LeakSummary::unusedBytes).orElse(List.of())));
    }
  }

  /**
   * Number of call sites with a verdict, without acknowledged ones.
   *
   * @param leak memory leaks there
   * @param lost leaks whose objects have no address any more
   * @param outlasted leaks whose objects outlasted the longest timeout
   * @param known leaks whose stack was one in an earlier run
   * @param unused objects that were not accessed so far
   * @param growing ever more memory that is used, or of whose use nothing is known
   * @param pool objects that are not accessed, but no leak
   */
  public record Verdicts(
      int leak, int lost, int outlasted, int known, int unused, int growing, int pool) {

    private static Verdicts of(LeakSummary summary) {
      return new Verdicts(
          summary.leaking(),
          summary.lost(),
          summary.outlasted(),
          summary.known(),
          summary.unused(),
          summary.growing(),
          summary.pools());
    }
  }

  static NativeMemoryView of(Snapshot snapshot, Clock clock, Observation observation) {
    return new NativeMemoryView(
        snapshot.status().state().name(),
        snapshot.status().reason(),
        snapshot.status().remedy(),
        snapshot.time(),
        snapshot.ageSeconds(clock),
        snapshot.diagnosis().state().tag(),
        snapshot.diagnosis().sentence(),
        snapshot.process().map(Counters::of).orElse(null),
        AllocatedBefore.of(snapshot),
        snapshot.sites().map(Holders::of).orElse(null),
        Leaks.of(observation, snapshot.leaks(), clock),
        snapshot.applicationVersion(),
        Self.of(snapshot.self()));
  }
}
