package io.mallometer.spring;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.LeakSummary;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import java.util.LinkedHashMap;
import java.util.Map;

/** The values that the health and info endpoints show. Unknown values are left out. */
final class NativeMemoryDetails {

  private NativeMemoryDetails() {}

  /**
   * Returns the details of health: the diagnosis, how memory is counted or why it is not, the main
   * memory figures in bytes, and the worst leak.
   */
  static Map<String, Object> health(Snapshot snapshot) {
    Map<String, Object> details = state(snapshot);
    Diagnosis diagnosis = snapshot.diagnosis();
    details.put("diagnosis", diagnosis.state().tag());
    details.put("sentence", diagnosis.sentence());
    if (!diagnosis.actions().isEmpty()) {
      details.put("actions", diagnosis.actions());
    }
    snapshot
        .self()
        .attachment()
        .map(Attachment::gaps)
        .filter(gaps -> !gaps.isEmpty())
        .ifPresent(gaps -> details.put("incomplete", gaps));
    put(details, "residentBytes", snapshot.memory().residentBytes());
    snapshot.process().ifPresent(counters -> addCounters(details, counters));
    snapshot.allocator().ifPresent(allocator -> addAllocator(details, allocator));
    snapshot
        .memory()
        .cgroup()
        .ifPresent(cgroup -> put(details, "workingSetBytes", cgroup.workingSetBytes()));
    addLimit(details, snapshot.memory().setLimit());
    snapshot.leaks().ifPresent(leaks -> addLeaks(details, leaks));
    return details;
  }

  static Map<String, Object> info(Snapshot snapshot) {
    SelfReport self = snapshot.self();
    Map<String, Object> details = state(snapshot);
    details.put("build", self.build());
    details.put("allocator", self.allocator());
    details.put("accounting", self.byteUnit().tag());
    return details;
  }

  private static Map<String, Object> state(Snapshot snapshot) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("state", snapshot.status().state().name());
    if (!snapshot.status().active()) {
      details.put("reason", snapshot.status().reason());
    }
    details.put("mode", snapshot.self().mode());
    snapshot.self().since().ifPresent(since -> details.put("since", since.toString()));
    return details;
  }

  private static void addCounters(Map<String, Object> details, NativeCounters counters) {
    put(details, "liveBytes", counters.liveBytes());
    if (!counters.baseline().equals(Baseline.NONE)) {
      put(details, "allocatedBeforeBytes", counters.baseline().bytes());
    }
  }

  private static void addAllocator(Map<String, Object> details, AllocatorStatistics allocator) {
    put(details, "retainedBytes", allocator.retainedBytes());
    put(details, "trimmableBytes", allocator.trimmableBytes());
  }

  private static void addLeaks(Map<String, Object> details, LeakSummary leaks) {
    details.put("leaks", leaks.counts().leaking());
    leaks.worstInWords().ifPresent(words -> details.put("leak", words));
  }

  private static void addLimit(Map<String, Object> details, Limit limit) {
    put(details, "limitBytes", limit.bytes());
    double share = limit.usedShare();
    if (Double.isFinite(share)) {
      details.put("shareOfLimit", share);
    }
  }

  private static void put(Map<String, Object> details, String name, double value) {
    if (Double.isFinite(value)) {
      details.put(name, (long) value);
    }
  }
}
