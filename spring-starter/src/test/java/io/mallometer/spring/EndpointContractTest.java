package io.mallometer.spring;

import io.mallometer.FaceContract;
import io.mallometer.Mallometer;
import io.mallometer.Published;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.view.NativeMemoryView;
import io.mallometer.view.Views;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;

/**
 * Tests what the Actuator endpoint shows. The fields are translated to the names of Prometheus'
 * series.
 */
@Tag("newest-boot")
class EndpointContractTest extends FaceContract {

  @Override
  protected Face open(Mallometer mallometer, Map<String, String> commonLabels) {
    NativeMemoryEndpoint endpoint = new NativeMemoryEndpoint(mallometer);
    return new Face() {
      private boolean closed;

      @Override
      public List<Published> shown() {
        return closed ? List.of() : translate(endpoint.views());
      }

      @Override
      public void close() {
        closed = true;
      }
    };
  }

  @Override
  protected boolean carriesCommonLabels() {
    return false;
  }

  private static List<Published> translate(Views views) {
    NativeMemoryView body = views.nativeMemory();
    Snapshot snapshot = body.snapshot();
    String is = snapshot.status().state().name();
    List<Published> shown = new ArrayList<>();
    addBreakdown(shown, snapshot.memory().resident());
    addCgroup(shown, snapshot.memory().cgroup());
    addAllocator(shown, snapshot.allocator());
    shown.add(gauge("mallometer_active", is.equals("ACTIVE") ? 1 : 0));
    shown.add(gauge("mallometer_snapshot_age_seconds", body.ageSeconds()));
    snapshot
        .applicationVersion()
        .ifPresent(
            version -> shown.add(gauge("mallometer_application_info", 1, "version", version)));
    snapshot
        .pools()
        .ifPresent(
            pools -> {
              shown.add(gauge("native_pool_size_bytes", pools.bytes()));
              shown.add(gauge("native_pool_used_bytes", pools.usedBytes()));
            });
    addSelf(shown, snapshot.self());
    addDiagnosis(shown, snapshot.diagnosis());
    snapshot.process().ifPresent(counters -> addCounters(shown, counters));
    snapshot
        .process()
        .flatMap(NativeCounters::allocatedBefore)
        .ifPresent(before -> shown.add(gauge("native_malloc_baseline_bytes", before.bytes())));
    snapshot
        .sites()
        .ifPresent(
            sites -> {
              addShares(shown, "library", sites.libraries());
              addShares(shown, "site", sites.sites());
              sites
                  .residentSites()
                  .forEach(
                      (site, bytes) ->
                          shown.add(
                              gauge("native_memory_site_resident_bytes", bytes, "site", site)));
            });
    snapshot.leaks().ifPresent(leaks -> addLeaks(shown, leaks));
    shown.removeIf(sample -> Double.isNaN(sample.value()));
    return shown;
  }

  private static void addDiagnosis(List<Published> shown, Diagnosis diagnosis) {
    for (String state : List.of("healthy", "too_early", "watch", "act")) {
      double holds = diagnosis.state().tag().equals(state) ? 1 : 0;
      shown.add(gauge("mallometer_diagnosis", holds, "state", state));
    }
    String left = "mallometer_time_to_limit_seconds";
    addKnown(shown, left, diagnosis.limit().lowerSeconds(), "bound", "lower");
    addKnown(shown, left, diagnosis.limit().seconds(), "bound", "estimate");
    addKnown(shown, left, diagnosis.limit().upperSeconds(), "bound", "upper");
  }

  private static void addLeaks(List<Published> shown, LeakSummary sites) {
    shown.add(sites(sites.counts().lost(), "leak", "lost"));
    shown.add(sites(sites.counts().outlasted(), "leak", "outlasted"));
    shown.add(sites(sites.counts().known(), "leak", "known"));
    shown.add(sites(sites.counts().unused(), "unused", ""));
    shown.add(sites(sites.counts().growing(), "growing", ""));
    shown.add(sites(sites.counts().waiting(), "waits_for_gc", ""));
    shown.add(sites(sites.counts().pools(), "pool", ""));
    for (SiteSummary.Share share : sites.unusedBytes()) {
      shown.add(gauge("native_malloc_leak_unused_bytes", share.liveBytes(), "site", share.name()));
    }
    for (SiteSummary.Share share : sites.suspected()) {
      shown.add(
          gauge("native_malloc_leak_suspected_bytes", share.liveBytes(), "site", share.name()));
    }
  }

  private static Published sites(int count, String verdict, String evidence) {
    return gauge("native_malloc_leak_sites", count, "verdict", verdict, "evidence", evidence);
  }

  private static void addBreakdown(List<Published> shown, Optional<ResidentMemory> split) {
    split
        .map(ResidentMemory::parts)
        .orElse(Map.of())
        .forEach(
            (part, bytes) ->
                shown.add(gauge("native_memory_resident_bytes", bytes, "part", part.tag())));
    split
        .flatMap(ResidentMemory::hugePages)
        .ifPresent(huge -> shown.add(gauge("native_memory_thp_bytes", huge.bytes())));
  }

  private static void addCgroup(List<Published> shown, Optional<CgroupMemory> known) {
    if (known.isEmpty()) {
      return;
    }
    CgroupMemory cgroup = known.get();
    cgroup
        .parts()
        .forEach(
            (part, bytes) ->
                shown.add(gauge("cgroup_memory_charged_bytes", bytes, "part", part.tag())));
    cgroup
        .events()
        .forEach(
            (event, count) ->
                shown.add(counter("cgroup_memory_events_total", count, "event", event)));
    addKnown(shown, "cgroup_memory_limit_bytes", cgroup.limitBytes());
    addKnown(shown, "cgroup_memory_high_bytes", cgroup.highBytes());
    addKnown(shown, "cgroup_memory_working_set_bytes", cgroup.workingSetBytes());
    addKnown(shown, "cgroup_memory_swap_bytes", cgroup.swapBytes());
  }

  private static void addAllocator(List<Published> shown, Optional<AllocatorStatistics> known) {
    if (known.isEmpty()) {
      return;
    }
    AllocatorStatistics allocator = known.get();
    String[] label = {"allocator", allocator.kind().tag()};
    addKnown(shown, "native_allocator_system_bytes", allocator.systemBytes(), label);
    addKnown(shown, "native_allocator_used_bytes", allocator.usedBytes(), label);
    addKnown(shown, "native_allocator_retained_bytes", allocator.retainedBytes(), label);
    addKnown(shown, "native_allocator_trimmable_bytes", allocator.trimmableBytes(), label);
    addKnown(shown, "native_allocator_arenas", allocator.arenas(), label);
    shown.add(counter("native_allocator_trims_total", allocator.trims(), label));
  }

  private static void addShares(
      List<Published> shown, String label, List<SiteSummary.Share> shares) {
    for (SiteSummary.Share share : shares) {
      String name = "native_malloc_" + label + "_live_bytes";
      shown.add(gauge(name, share.liveBytes(), label, share.name()));
    }
  }

  private static void addSampling(List<Published> shown, SelfReport.Sampling sampling) {
    if (!Double.isNaN(sampling.samples())) {
      String dropped = "mallometer_samples_dropped_total";
      shown.add(gauge("mallometer_overhead_target_ratio", sampling.overheadTarget()));
      shown.add(counter("mallometer_samples_total", sampling.samples()));
      shown.add(counter(dropped, sampling.missed().noSite(), "reason", "no_site"));
      shown.add(counter(dropped, sampling.missed().notFollowed(), "reason", "not_followed"));
      shown.add(counter(dropped, sampling.missed().noPath(), "reason", "no_path"));
    }
  }

  private static void addKnown(List<Published> shown, String name, double value, String... labels) {
    if (!Double.isNaN(value)) {
      shown.add(gauge(name, value, labels));
    }
  }

  private static void addSelf(List<Published> shown, SelfReport self) {
    shown.add(
        gauge(
            "mallometer_build_info",
            1,
            "version",
            self.build(),
            "allocator",
            self.allocator(),
            "mode",
            self.mode(),
            "accounting",
            self.byteUnit().tag()));
    shown.add(counter("mallometer_overhead_seconds_total", self.overheadSeconds()));
    shown.add(gauge("mallometer_footprint_bytes", self.footprintBytes()));
    addSampling(shown, self.sampling());
  }

  private static void addCounters(List<Published> shown, NativeCounters counters) {
    String allocations = "native_malloc_allocations_total";
    shown.add(counter(allocations, counters.smallAllocations(), "size", "small"));
    shown.add(counter(allocations, counters.largeAllocations(), "size", "large"));
    shown.add(counter("native_malloc_requested_bytes_total", counters.requestedBytes()));
    shown.add(counter("native_malloc_allocated_bytes_total", counters.allocatedBytes()));
    shown.add(counter("native_malloc_freed_bytes_total", counters.freedBytes()));
    shown.add(counter("native_malloc_frees_total", counters.frees()));
    shown.add(counter("native_malloc_failures_total", counters.failed()));
    shown.add(counter("native_malloc_huge_total", counters.hugeAllocations()));
    shown.add(gauge("native_malloc_live_bytes", counters.liveBytes()));
    shown.add(gauge("native_malloc_peak_bytes", counters.peakBytes()));
    shown.add(gauge("native_malloc_largest_bytes", counters.largestRequestBytes()));
    shown.add(gauge("native_malloc_live_objects", counters.liveObjects()));
    addHistogram(shown, counters);
  }

  private static void addHistogram(List<Published> shown, NativeCounters counters) {
    String name = "native_malloc_request_size_bytes";
    long cumulative = 0;
    for (SizeDistribution.SizeClass sizeClass : counters.requestSizes()) {
      cumulative += sizeClass.allocations();
      double bound = sizeClass.upToBytes();
      shown.add(
          Published.of(
              name + "_bucket",
              "histogram",
              cumulative,
              "le",
              Double.isInfinite(bound) ? "+Inf" : "" + (long) bound));
    }
    shown.add(Published.of(name + "_count", "histogram", counters.allocations()));
    shown.add(Published.of(name + "_sum", "histogram", counters.requestedBytes()));
  }

  private static Published gauge(String name, double value, String... labels) {
    return Published.of(name, "gauge", value, labels);
  }

  private static Published counter(String name, double value, String... labels) {
    return Published.of(name, "counter", value, labels);
  }
}
