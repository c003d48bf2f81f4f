package io.mallometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSites;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.PageCache;
import io.mallometer.model.PoolReport;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.model.ThreadStacks;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The names, types, labels and values that every face must show of one snapshot. A face is a
 * package that publishes metrics, such as JMX or Micrometer. The test of each face extends this
 * class.
 */
public abstract class FaceContract {

  public interface Face extends AutoCloseable {

    /** Returns all published numbers in any order, possibly with those of other libraries. */
    List<Published> shown();

    @Override
    void close();
  }

  private static final long[] SIZES = {3, 0, 0, 2, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 5};

  private static final Executor ALONE = work -> new Thread(work).start();

  private final FakeMallometer mallometer =
      new FakeMallometer(counters(true, 32_768), selfReport());
  private final List<AutoCloseable> open = new ArrayList<>();

  protected abstract Face open(Mallometer mallometer, Map<String, String> commonLabels);

  /**
   * Returns whether the metrics of the tested package carry the common labels. Metrics in JMX have
   * no labels.
   */
  protected boolean carriesCommonLabels() {
    return true;
  }

  @AfterEach
  void closeAll() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  @Test
  void nativeMetersAreAbsentWithoutTheLibrary() {
    mallometer.setAllocator(allocator(7_000));
    mallometer.setStatus(
        new Status(State.UNAVAILABLE, "the library is not preloaded", "preload it"));

    assertThat(ours(face(Map.of())))
        .containsExactlyInAnyOrder(
            gauge("mallometer_active", 0),
            gauge(
                "mallometer_build_info",
                1,
                "version",
                "unknown",
                "allocator",
                "unknown",
                "mode",
                "none",
                "accounting",
                "unknown"),
            gauge("mallometer_diagnosis", 0, "state", "healthy"),
            gauge("mallometer_diagnosis", 1, "state", "too_early"),
            gauge("mallometer_diagnosis", 0, "state", "watch"),
            gauge("mallometer_diagnosis", 0, "state", "act"));
  }

  @Test
  void poolsOfLibrariesAndTheVersionOfTheApplicationAreShownWhereTheyAreKnown() {
    mallometer.setPools(pools(1 << 20, 240));
    mallometer.setApplicationVersion("2.3.1");

    List<Published> all = new ArrayList<>(whileCounting());
    all.add(gauge("native_pool_size_bytes", 134_217_728));
    all.add(gauge("native_pool_used_bytes", 20_000_000));
    all.add(gauge("mallometer_application_info", 1, "version", "2.3.1"));
    assertThat(ours(face(Map.of()))).containsExactlyInAnyOrderElementsOf(all);
  }

  /** The process grows by 1 MiB per second; the limit is 1 GiB. */
  @Test
  void theDiagnosisAndTheTimeToTheLimitAreShown() {
    polled();
    mallometer.starting(true);
    mallometer.starting(false);
    for (int second = 0; second <= 180; second += 5) {
      mallometer.setMemory(using(((390L + second) << 20) + 130_000, 1_073_741_824));
      mallometer.advance(Duration.ofSeconds(5));
      mallometer.poll();
    }

    assertThat(ours(face(mallometer, Map.of())))
        .contains(
            gauge("mallometer_diagnosis", 1, "state", "act"),
            gauge("mallometer_diagnosis", 0, "state", "too_early"),
            gauge("mallometer_time_to_limit_seconds", 454, "bound", "lower"),
            gauge("mallometer_time_to_limit_seconds", 454, "bound", "estimate"),
            gauge("mallometer_time_to_limit_seconds", 454, "bound", "upper"));
  }

  @Test
  void whereMemoryGoesIsShownWithoutTheLibraryToo() {
    mallometer.setStatus(
        new Status(State.UNAVAILABLE, "the library is not preloaded", "preload it"));
    mallometer.setMemory(memory(Double.NaN));

    assertThat(ours(face(Map.of())))
        .containsAll(whereMemoryGoes())
        .contains(gauge("mallometer_snapshot_age_seconds", 0))
        .noneMatch(
            sample -> sample.name().matches("native_malloc_.*|cgroup_memory_(limit|high)_bytes"));
  }

  @Test
  void whatTheAllocatorSaysIsShownBesideTheCountersAsFarAsItTells() {
    mallometer.setAllocator(allocator(7_000));
    Face face = face(Map.of());
    List<Published> all = new ArrayList<>(whileCounting());
    all.addAll(whatTheAllocatorSays());
    Published trimmable = gauge("native_allocator_trimmable_bytes", 7_000, "allocator", "glibc");
    all.add(trimmable);
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(all);

    mallometer.setAllocator(allocator(Double.NaN));
    mallometer.poll();
    all.remove(trimmable);
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void nativeMetersAndWhoHoldsTheMemoryComeAndGoWithCounting() {
    FakeMallometer mallometer = knowing(SitesByHand.three());
    Face face = face(mallometer, Map.of());
    List<Published> all = new ArrayList<>(whileCounting());
    all.addAll(whoHoldsTheMemory());
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(all);

    mallometer.setStatus(new Status(State.DISABLED, "switched off", "switch it on"));
    mallometer.poll();
    assertThat(ours(face))
        .noneMatch(FaceContract::isCounted)
        .contains(gauge("mallometer_active", 0), gauge("mallometer_footprint_bytes", 40_960));

    mallometer.setStatus(Status.counting());
    mallometer.poll();
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void whoLeaksComesAndGoes() {
    FakeMallometer mallometer = judging(VerdictsByHand.report());
    Face face = face(mallometer, Map.of());
    assertThat(ours(face))
        .contains(leaks(0, "outlasted"))
        .noneMatch(sample -> sample.name().startsWith("native_malloc_leak_suspected"));

    mallometer.setLeaks(VerdictsByHand.five());
    mallometer.poll();
    List<Published> all = new ArrayList<>(whileCounting());
    all.remove(gauge("mallometer_diagnosis", 1, "state", "too_early"));
    all.remove(gauge("mallometer_diagnosis", 0, "state", "act"));
    all.add(gauge("mallometer_diagnosis", 0, "state", "too_early"));
    all.add(gauge("mallometer_diagnosis", 1, "state", "act"));
    all.addAll(
        List.of(
            leaks(0, "lost"),
            leaks(1, "outlasted"),
            leaks(0, "known"),
            sites(1, "unused"),
            sites(1, "growing"),
            sites(0, "waits_for_gc"),
            sites(1, "pool"),
            gauge(
                "native_malloc_leak_suspected_bytes",
                1_300_000_000,
                "site",
                "com.shop.Report.render"),
            gauge("native_malloc_leak_suspected_bytes", 0, "site", "other"),
            gauge("native_malloc_leak_unused_bytes", 60_000_000, "site", "com.shop.Basket.keep"),
            gauge("native_malloc_leak_unused_bytes", 0, "site", "other")));
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(all);

    mallometer.setLeaks(LeakReport.none(Instant.EPOCH, "the observation ended"));
    mallometer.poll();
    assertThat(ours(face)).noneMatch(sample -> sample.name().equals("native_malloc_leak_sites"));
  }

  private static Published leaks(int count, String evidence) {
    return gauge("native_malloc_leak_sites", count, "verdict", "leak", "evidence", evidence);
  }

  private static Published sites(int count, String verdict) {
    return gauge("native_malloc_leak_sites", count, "verdict", verdict, "evidence", "");
  }

  @Test
  void partsComeAndGoWithWhatIsKnown() {
    polled();
    Face face = face(mallometer, Map.of());

    mallometer.setMemory(memory(1_073_741_824));
    mallometer.poll();
    List<Published> all = new ArrayList<>(whileCounting());
    all.addAll(whereMemoryGoes());
    all.add(gauge("cgroup_memory_limit_bytes", 1_073_741_824));
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(all);

    mallometer.setMemory(ProcessMemory.unknown());
    mallometer.poll();
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(whileCounting());
  }

  @Test
  void anAttachComesAndGoes() {
    Status uncounted = new Status(State.UNAVAILABLE, "the library is not preloaded", "attach");
    mallometer.setStatus(uncounted);
    polled();
    Face face = face(mallometer, Map.of());
    assertThat(ours(face)).noneMatch(FaceContract::isCounted).contains(build("none"));

    mallometer.setStatus(Status.counting(SelfReport.ATTACHED));
    mallometer.setCounters(attachedCounters(new Baseline(5_000_000, 300_000)));
    mallometer.setSelf(attachedReport());
    mallometer.poll();
    assertThat(ours(face))
        .contains(
            build("attached"),
            gauge("mallometer_active", 1),
            gauge("native_malloc_live_bytes", 4_700_000),
            gauge("native_malloc_peak_bytes", 5_200_000),
            gauge("native_malloc_baseline_bytes", 5_000_000),
            counter("native_malloc_allocated_bytes_total", 1_000_000),
            counter("native_malloc_freed_bytes_total", 1_300_000))
        .doesNotContain(build("none"))
        .noneMatch(sample -> sample.name().equals("native_malloc_live_objects"))
        .noneMatch(sample -> sample.value() < 0);

    mallometer.setStatus(uncounted);
    mallometer.poll();
    assertThat(ours(face))
        .noneMatch(FaceContract::isCounted)
        .contains(build("none"), gauge("mallometer_active", 0))
        .doesNotContain(build("attached"));

    mallometer.setStatus(Status.counting(SelfReport.ATTACHED));
    mallometer.setCounters(attachedCounters(new Baseline(Double.NaN, 80_000_000)));
    mallometer.poll();
    assertThat(ours(face))
        .contains(build("attached"), counter("native_malloc_allocated_bytes_total", 1_000_000))
        .noneMatch(sample -> sample.name().matches("native_malloc_(live|peak|baseline)_bytes"));
  }

  private static boolean isCounted(Published sample) {
    return sample.name().startsWith("native_malloc_");
  }

  private static Published build(String mode) {
    boolean counts = !mode.equals("none");
    return gauge(
        "mallometer_build_info",
        1,
        "version",
        counts ? "1.2.3" : "unknown",
        "allocator",
        counts ? "glibc 2.36" : "unknown",
        "mode",
        mode,
        "accounting",
        counts ? "chunk" : "unknown");
  }

  /** Counting was interrupted, no request was large, and nothing is sampled. */
  @Test
  void whatIsUnknownIsNotShown() {
    mallometer.setCounters(counters(false, Double.NaN));
    mallometer.setSelf(selfReport(SelfReport.Sampling.OFF));

    assertThat(ours(face(Map.of())))
        .contains(
            gauge("mallometer_active", 1), counter("native_malloc_freed_bytes_total", 400_000))
        .noneMatch(
            sample ->
                sample.name().matches("native_malloc_(live|peak|largest)_.*|mallometer_samples.*"));
  }

  @Test
  void aStuckPollerShowsInTheAge() {
    polled();
    Face face = face(mallometer, Map.of());

    mallometer.advance(Duration.ofSeconds(90));
    assertThat(ours(face)).contains(gauge("mallometer_snapshot_age_seconds", 90));

    mallometer.poll();
    assertThat(ours(face)).contains(gauge("mallometer_snapshot_age_seconds", 0));
  }

  @Test
  void everyMeterIsShownWhileCountingAndNothingChangesBetweenTwoPolls() {
    polled();
    Face face = face(mallometer, Map.of());

    mallometer.setCounters(counters(false, Double.NaN));
    assertThat(ours(face)).containsExactlyInAnyOrderElementsOf(whileCounting());

    mallometer.poll();
    assertThat(ours(face)).doesNotContain(gauge("native_malloc_live_bytes", 600_000));
  }

  @Test
  void commonLabelsAreOnEverything() {
    if (carriesCommonLabels()) {
      List<Published> expected =
          whileCounting().stream().map(sample -> with(sample, "application", "shop")).toList();
      assertThat(ours(face(Map.of("application", "shop"))))
          .containsExactlyInAnyOrderElementsOf(expected);
    }
  }

  /**
   * A new thread is used for each scrape, because one thread may get the same snapshot for up to 5
   * s.
   */
  @Test
  void aScrapeShowsOneSnapshotWhilePollsGoOn() {
    mallometer.setCounters(multiplesOf(1));
    Face face = face(Map.of());
    AtomicBoolean scraping = new AtomicBoolean(true);
    CompletableFuture<Void> polls =
        CompletableFuture.runAsync(
            () -> {
              for (long n = 2; scraping.get(); n++) {
                mallometer.setCounters(multiplesOf(n));
                mallometer.poll();
                LockSupport.parkNanos(1_000_000);
              }
            });
    Set<Double> seen = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      Map<String, Double> shown =
          CompletableFuture.supplyAsync(() -> unlabelled(face), ALONE).join();
      double n = shown.get("native_malloc_frees_total");
      seen.add(n);
      assertThat(shown)
          .containsEntry("native_malloc_failures_total", 2 * n)
          .containsEntry("native_malloc_freed_bytes_total", 3 * n)
          .containsEntry("native_malloc_requested_bytes_total", 4 * n)
          .containsEntry("native_malloc_allocated_bytes_total", 5 * n)
          .containsEntry("native_malloc_live_bytes", 2 * n)
          .containsEntry("native_malloc_request_size_bytes_sum", 4 * n);
    }
    scraping.set(false);
    polls.join();
    assertThat(seen).hasSizeGreaterThan(1);
  }

  private static NativeCounters multiplesOf(long n) {
    return new NativeCounters(
        SizeDistribution.of(SIZES), n, 2 * n, 4 * n, 5 * n, 3 * n, 9 * n, 0, 0, 0, 1, true);
  }

  private static Map<String, Double> unlabelled(Face face) {
    return face.shown().stream()
        .filter(sample -> sample.labels().isEmpty())
        .collect(Collectors.toMap(Published::name, Published::value, (one, other) -> one));
  }

  @Test
  void closingTakesEverythingAway() {
    Face face = open(polled(), Map.of());
    face.close();

    assertThat(ours(face)).isEmpty();
  }

  public static NativeCounters counters(boolean complete, double largest) {
    return new NativeCounters(
        SizeDistribution.of(SIZES),
        12,
        6,
        900_000,
        1_000_000,
        400_000,
        complete ? 700_000 : Double.NaN,
        complete ? 512 : Double.NaN,
        largest,
        8,
        17,
        complete);
  }

  /** Returns counters after an attach, with more bytes freed than allocated. */
  public static NativeCounters attachedCounters(Baseline baseline) {
    return new NativeCounters(
        SizeDistribution.of(SIZES),
        12,
        6,
        900_000,
        1_000_000,
        1_300_000,
        baseline.bytes() + 200_000,
        512,
        32_768,
        8,
        17,
        baseline.bytes() - 300_000,
        baseline,
        true);
  }

  public static SelfReport attachedReport() {
    return attachedReport(new Attachment(2_143, 2, 3, 0.004, 4_096, 65_536));
  }

  public static SelfReport attachedReport(Attachment attachment) {
    SelfReport self = selfReport();
    return new SelfReport(
        self.build(),
        self.allocator(),
        SelfReport.ATTACHED,
        Optional.of(Instant.parse("2026-01-01T00:00:00Z")),
        Optional.of(attachment),
        self.byteUnit(),
        self.footprintBytes(),
        self.overheadSeconds(),
        self.pollSeconds(),
        self.threadsWithoutBlock(),
        self.hugeThresholdBytes(),
        self.sampling(),
        "incomplete: 3 calls could not be redirected");
  }

  public static SelfReport selfReport() {
    return selfReport(
        new SelfReport.Sampling(
            524_288,
            77,
            new SelfReport.Missed(5, 3, 11),
            0.01,
            1,
            13_000_000,
            SelfReport.SlotPages.NONE,
            new SelfReport.Ranges(740, 8, 2, 19)));
  }

  public static SelfReport selfReport(SelfReport.Sampling sampling) {
    return new SelfReport(
        "1.2.3",
        "glibc 2.36",
        SelfReport.PRELOADED,
        Optional.of(Instant.parse("2026-01-01T00:00:00Z")),
        Optional.empty(),
        ByteUnit.GLIBC_CHUNK,
        40_960,
        0.25,
        0.000_01,
        0,
        1_048_576,
        sampling,
        "");
  }

  public static ProcessMemory memory(double limitBytes) {
    return using(390_000, limitBytes);
  }

  private static ProcessMemory using(long workingSetBytes, double limitBytes) {
    return new ProcessMemory(
        310_000,
        Optional.of(
            new ResidentMemory(
                Instant.parse("2026-01-01T00:00:00Z"),
                300_000,
                Map.of(
                    ResidentPart.JAVA_HEAP, 200_000L,
                    ResidentPart.MALLOC_LIVE, 99_000L,
                    ResidentPart.UNEXPLAINED, 1_000L),
                2_000,
                0,
                true,
                ResidentMemory.BY_FRAMES,
                321,
                0.005,
                99_000,
                Map.of("libjvm.so", 900L),
                Optional.of(hugePages()),
                threadStacks(),
                pageCache(),
                Optional.of(
                    List.of(
                        new ResidentMemory.Mapped("com.shop.Index.open", "Index.java:12", 800))))),
        Optional.of(
            new CgroupMemory(
                2,
                workingSetBytes + 10_000,
                Map.of(
                    ChargedPart.THIS_PROCESS, 250_000L,
                    ChargedPart.PAGE_CACHE, 140_000L,
                    ChargedPart.OTHER, 10_000L),
                limitBytes,
                Double.NaN,
                workingSetBytes,
                5_000,
                Map.of("max", 7L, "oom_kill", 3L),
                Optional.of(new CgroupMemory.Pressure(1.5, 0.5, 0.01, 0.002)))),
        Optional.of(
            new MemoryBudget(
                List.of(
                    new MemoryBudget.Line("java_heap", 500_000, "configured", "-Xmx", 500_000),
                    new MemoryBudget.Line(
                        "native", 100_000, "measured", "now resident", Double.NaN)),
                600_000,
                limitBytes,
                "no limit is set; this configuration may need 1 MiB")));
  }

  public static PageCache pageCache() {
    return new PageCache(
        List.of(new PageCache.CachedFile("/data/000123.sst", "sst", 70_000, true)),
        70_000,
        Map.of("sst", 70_000L),
        0.002,
        "");
  }

  public static ThreadStacks threadStacks() {
    return new ThreadStacks(
        List.of(new ThreadStacks.ThreadPool("http-nio-#-exec-#", 2, 40_000)), "");
  }

  public static HugePages hugePages() {
    return new HugePages(
        60_000,
        List.of(new HugePages.Part(ResidentPart.JAVA_HEAP, 60_000)),
        "60 kB of the resident set are in transparent huge pages.");
  }

  public static AllocatorStatistics allocator(double trimmableBytes) {
    return new AllocatorStatistics(
        Instant.parse("2026-01-01T00:00:00Z"),
        AllocatorKind.GLIBC,
        3,
        90_000,
        60_000,
        30_000,
        10_000,
        20_000,
        Double.NaN,
        trimmableBytes,
        2,
        List.of(
            new AllocatorStatistics.Arena(0, 50_000, 40_000, 10_000, 8_000, 5_000),
            new AllocatorStatistics.Arena(1, 40_000, 20_000, 20_000, 12_000, 4_000)),
        List.of(new Advice("arenas", "3 arenas for 1 processor", "MALLOC_ARENA_MAX=2")),
        0.001);
  }

  /**
   * Returns a pool with one suspect, a line of code that holds {@code heldBytes} bytes in buffers.
   * The oldest tracked buffer of this line is held for {@code risingSeconds}.
   */
  public static PoolReport pools(double heldBytes, double risingSeconds) {
    PoolReport.BufferSite site =
        new PoolReport.BufferSite(
            "com.shop.SessionStore.keep(SessionStore.java:48)",
            new Estimate(2_048, 262_144, 16),
            new Estimate(heldBytes, heldBytes * heldBytes / 16, 16),
            new PoolReport.Tracks(16, 12, 240, 1),
            new PoolReport.Hold(
                true,
                risingSeconds,
                "Buffers from SessionStore.keep (SessionStore.java:48) are held longer and longer"),
            new Estimate(128, 16_384, 1),
            "128 buffers were dropped without release");
    return new PoolReport(
        Instant.parse("2026-01-01T00:00:00Z"),
        0.004,
        134_217_728,
        20_000_000,
        List.of(
            new PoolReport.Pool(
                new PoolReport.PoolOrigin("Netty", "io.netty", "pooled"),
                new PoolReport.Amounts(32, 134_217_728, 20_000_000, 1_000_000),
                134_000_000,
                List.of(7),
                128,
                "the look ended before all tracked buffers were read",
                "128 MiB in 32 chunks of Netty (pooled)",
                List.of(site))));
  }

  private static List<Published> whatTheAllocatorSays() {
    return List.of(
        gauge("native_allocator_system_bytes", 90_000, "allocator", "glibc"),
        gauge("native_allocator_used_bytes", 60_000, "allocator", "glibc"),
        gauge("native_allocator_retained_bytes", 30_000, "allocator", "glibc"),
        gauge("native_allocator_arenas", 3, "allocator", "glibc"),
        counter("native_allocator_trims_total", 2, "allocator", "glibc"));
  }

  private FakeMallometer knowing(CallSites sites) {
    mallometer.setSites(sites);
    polled();
    mallometer.sites().read();
    mallometer.poll();
    return mallometer;
  }

  private FakeMallometer judging(LeakReport report) {
    polled();
    mallometer.setLeaks(report);
    mallometer.poll();
    return mallometer;
  }

  private static List<Published> whoHoldsTheMemory() {
    return List.of(
        gauge("native_malloc_library_live_bytes", 350_000, "library", "libzip.so"),
        gauge("native_malloc_library_live_bytes", 200_000, "library", "librocksdbjni.so"),
        gauge("native_malloc_library_live_bytes", 0, "library", "other"),
        gauge("native_malloc_site_live_bytes", 300_000, "site", "com.shop.Cart.zip"),
        gauge("native_malloc_site_live_bytes", 200_000, "site", "com.shop.Store.open"),
        gauge("native_malloc_site_live_bytes", 50_000, "site", "com.shop.pdf.Printer.print"),
        gauge("native_malloc_site_live_bytes", 0, "site", "other"),
        gauge("native_memory_site_resident_bytes", 225_000, "site", "com.shop.Cart.zip"),
        gauge("native_memory_site_resident_bytes", 150_000, "site", "com.shop.Store.open"),
        gauge("native_memory_site_resident_bytes", 37_500, "site", "com.shop.pdf.Printer.print"),
        gauge("native_memory_site_resident_bytes", 0, "site", "other"));
  }

  private static List<Published> whereMemoryGoes() {
    return List.of(
        gauge("native_memory_resident_bytes", 200_000, "part", "java_heap"),
        gauge("native_memory_resident_bytes", 99_000, "part", "malloc_live"),
        gauge("native_memory_resident_bytes", 1_000, "part", "unexplained"),
        gauge("native_memory_thp_bytes", 60_000),
        gauge("cgroup_memory_charged_bytes", 250_000, "part", "this_process"),
        gauge("cgroup_memory_charged_bytes", 140_000, "part", "page_cache"),
        gauge("cgroup_memory_charged_bytes", 10_000, "part", "other"),
        gauge("cgroup_memory_working_set_bytes", 390_000),
        gauge("cgroup_memory_swap_bytes", 5_000),
        counter("cgroup_memory_events_total", 7, "event", "max"),
        counter("cgroup_memory_events_total", 3, "event", "oom_kill"));
  }

  private static List<Published> whileCounting() {
    List<Published> all = new ArrayList<>();
    all.add(counter("native_malloc_allocations_total", 9, "size", "small"));
    all.add(counter("native_malloc_allocations_total", 13, "size", "large"));
    all.add(counter("native_malloc_requested_bytes_total", 900_000));
    all.add(counter("native_malloc_allocated_bytes_total", 1_000_000));
    all.add(counter("native_malloc_freed_bytes_total", 400_000));
    all.add(counter("native_malloc_frees_total", 12));
    all.add(counter("native_malloc_failures_total", 6));
    all.add(gauge("native_malloc_live_bytes", 600_000));
    all.add(gauge("native_malloc_peak_bytes", 700_000));
    all.add(gauge("native_malloc_largest_bytes", 32_768));
    all.add(gauge("native_malloc_live_objects", 10));
    all.add(counter("native_malloc_huge_total", 8));
    all.add(gauge("mallometer_active", 1));
    all.add(
        gauge(
            "mallometer_build_info",
            1,
            "version",
            "1.2.3",
            "allocator",
            "glibc 2.36",
            "mode",
            "preloaded",
            "accounting",
            "chunk"));
    all.add(gauge("mallometer_snapshot_age_seconds", 0));
    all.add(counter("mallometer_overhead_seconds_total", 0.25));
    all.add(gauge("mallometer_footprint_bytes", 40_960));
    all.add(gauge("mallometer_diagnosis", 0, "state", "healthy"));
    all.add(gauge("mallometer_diagnosis", 1, "state", "too_early"));
    all.add(gauge("mallometer_diagnosis", 0, "state", "watch"));
    all.add(gauge("mallometer_diagnosis", 0, "state", "act"));
    all.add(gauge("mallometer_overhead_target_ratio", 0.01));
    all.add(counter("mallometer_samples_total", 77));
    all.add(counter("mallometer_samples_dropped_total", 5, "reason", "no_site"));
    all.add(counter("mallometer_samples_dropped_total", 3, "reason", "not_followed"));
    all.add(counter("mallometer_samples_dropped_total", 11, "reason", "no_path"));
    all.addAll(histogram());
    return all;
  }

  private static List<Published> histogram() {
    double[][] cumulative = {
      {16, 3},
      {32, 3},
      {64, 3},
      {128, 5},
      {256, 5},
      {512, 5},
      {1024, 5},
      {2048, 5},
      {4096, 9},
      {8192, 10},
      {16384, 10},
      {32768, 10},
      {65536, 10},
      {131072, 10},
      {262144, 10},
      {524288, 10},
      {1048576, 10},
      {2097152, 10},
      {4194304, 17}
    };
    String name = "native_malloc_request_size_bytes";
    List<Published> samples = new ArrayList<>();
    for (double[] bucket : cumulative) {
      samples.add(
          Published.of(name + "_bucket", "histogram", bucket[1], "le", Double.toString(bucket[0])));
    }
    samples.add(Published.of(name + "_bucket", "histogram", 22, "le", "Infinity"));
    samples.add(Published.of(name + "_count", "histogram", 22));
    samples.add(Published.of(name + "_sum", "histogram", 900_000));
    return samples;
  }

  private FakeMallometer polled() {
    open.add(mallometer);
    mallometer.poll();
    return mallometer;
  }

  private Face face(Map<String, String> commonLabels) {
    return face(polled(), commonLabels);
  }

  private Face face(Mallometer mallometer, Map<String, String> commonLabels) {
    Face face = open(mallometer, commonLabels);
    open.add(face);
    return face;
  }

  /**
   * Returns mallometer's samples, with all bucket bounds in Java's notation. Fails if a sample is
   * NaN, because a query that adds it to other samples returns NaN.
   */
  private static List<Published> ours(Face face) {
    List<Published> shown = face.shown();
    assertThat(shown).noneMatch(sample -> Double.isNaN(sample.value()));
    return shown.stream()
        .filter(
            sample ->
                sample
                    .name()
                    .matches("(native_(malloc|memory|allocator|pool)|cgroup|mallometer)_.*"))
        .map(FaceContract::normalBound)
        .toList();
  }

  private static Published normalBound(Published sample) {
    String bound = sample.labels().get("le");
    return bound == null
        ? sample
        : with(
            sample,
            "le",
            bound.equals("+Inf") ? "Infinity" : Double.toString(Double.parseDouble(bound)));
  }

  private static Published with(Published sample, String label, String value) {
    SortedMap<String, String> labels = new TreeMap<>(sample.labels());
    labels.put(label, value);
    return new Published(sample.name(), sample.type(), labels, sample.value());
  }

  private static Published counter(String name, double value, String... labels) {
    return Published.of(name, "counter", value, labels);
  }

  private static Published gauge(String name, double value, String... labels) {
    return Published.of(name, "gauge", value, labels);
  }
}
