package io.mallometer.jmx;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.Mallometer;
import io.mallometer.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.management.Descriptor;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * Tests the attributes of the MBean, translated to the names that Prometheus has for the same
 * metrics.
 */
class JmxContractTest extends FaceContract {

  private static final Map<String, Published> NAMES =
      Map.ofEntries(
          Map.entry("SmallAllocationCount", sized("small")),
          Map.entry("LargeAllocationCount", sized("large")),
          named("RequestedBytes", "native_malloc_requested"),
          named("AllocatedBytes", "native_malloc_allocated"),
          named("FreedBytes", "native_malloc_freed"),
          named("FreeCount", "native_malloc_frees"),
          named("FailedAllocationCount", "native_malloc_failures"),
          named("LiveBytes", "native_malloc_live"),
          named("PeakBytes", "native_malloc_peak"),
          named("BaselineBytes", "native_malloc_baseline"),
          named("LargestRequestBytes", "native_malloc_largest"),
          named("LiveObjects", "native_malloc_live_objects"),
          named("HugeAllocationCount", "native_malloc_huge"),
          named("ThpBytes", "native_memory_thp"),
          named("PoolSizeBytes", "native_pool_size"),
          named("PoolUsedBytes", "native_pool_used"),
          named("CgroupLimitBytes", "cgroup_memory_limit"),
          named("CgroupHighBytes", "cgroup_memory_high"),
          named("CgroupWorkingSetBytes", "cgroup_memory_working_set"),
          named("CgroupSwapBytes", "cgroup_memory_swap"),
          named("SnapshotAge", "mallometer_snapshot_age"),
          named("Overhead", "mallometer_overhead"),
          named("FootprintBytes", "mallometer_footprint"));

  private static final Map<String, Published> TABLES =
      Map.ofEntries(
          Map.entry(
              "LeaksByEvidence", Published.of("native_malloc_leak_sites", "", 0, "evidence", "")),
          Map.entry(
              "SuspectedBytes", Published.of("native_malloc_leak_suspected", "", 0, "site", "")),
          Map.entry("UnusedBytes", Published.of("native_malloc_leak_unused", "", 0, "site", "")),
          Map.entry("ResidentParts", Published.of("native_memory_resident", "", 0, "part", "")),
          Map.entry("CgroupParts", Published.of("cgroup_memory_charged", "", 0, "part", "")),
          Map.entry("CgroupEvents", Published.of("cgroup_memory_events", "", 0, "event", "")),
          Map.entry(
              "LiveByLibrary", Published.of("native_malloc_library_live", "", 0, "library", "")),
          Map.entry("LiveBySite", Published.of("native_malloc_site_live", "", 0, "site", "")),
          Map.entry(
              "ResidentBySite", Published.of("native_memory_site_resident", "", 0, "site", "")),
          Map.entry("DiagnosisStates", Published.of("mallometer_diagnosis", "", 0, "state", "")),
          Map.entry(
              "TimeToLimitSeconds", Published.of("mallometer_time_to_limit", "", 0, "bound", "")),
          Map.entry(
              "DroppedSamples", Published.of("mallometer_samples_dropped", "", 0, "reason", "")));

  private static final Map<String, String> ALLOCATOR_NAMES =
      Map.of(
          "SystemBytes", "native_allocator_system",
          "UsedBytes", "native_allocator_used",
          "RetainedBytes", "native_allocator_retained",
          "TrimmableBytes", "native_allocator_trimmable",
          "Arenas", "native_allocator_arenas",
          "Trims", "native_allocator_trims");

  private static Map.Entry<String, Published> named(String attribute, String name) {
    return Map.entry(attribute, Published.of(name, "", 0));
  }

  private static Published sized(String size) {
    return Published.of("native_malloc_allocations", "", 0, "size", size);
  }

  @Override
  protected Face open(Mallometer mallometer, Map<String, String> commonLabels) {
    MBeanServer server = MBeanServerFactory.newMBeanServer();
    NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer, server);
    return new Face() {
      @Override
      public List<Published> shown() {
        try {
          ObjectName name = new ObjectName(NativeMemoryMBeans.NAME);
          if (!server.isRegistered(name)) {
            return List.of();
          }
          List<Published> shown = new ArrayList<>(translate(server, name));
          shown.addAll(ofAllocator(server, new ObjectName(NativeMemoryMBeans.ALLOCATOR_NAME)));
          shown.addAll(ofCallSites(server, new ObjectName(NativeMemoryMBeans.CALL_SITES_NAME)));
          shown.addAll(
              ofLeakDetector(server, new ObjectName(NativeMemoryMBeans.LEAK_DETECTOR_NAME)));
          return shown;
        } catch (JMException e) {
          throw new AssertionError(e);
        }
      }

      @Override
      public void close() {
        beans.close();
      }
    };
  }

  @Override
  protected boolean carriesCommonLabels() {
    return false;
  }

  /**
   * Leaves out unknown values (null, or NaN for a time), because Prometheus shows no series for
   * them.
   */
  private static List<Published> translate(MBeanServer server, ObjectName name) throws JMException {
    boolean active = (boolean) server.getAttribute(name, "Active");
    List<Published> shown = new ArrayList<>();
    for (MBeanAttributeInfo info : server.getMBeanInfo(name).getAttributes()) {
      Published known = NAMES.get(info.getName());
      if (TABLES.containsKey(info.getName())) {
        shown.addAll(rows(info, (TabularData) server.getAttribute(name, info.getName())));
      } else if (info.getName().matches("(Cgroup|Pool).+") || info.getName().endsWith("ThpBytes")) {
        Number value = (Number) server.getAttribute(name, info.getName());
        if (known != null && value != null) {
          String unit = suffix(info.getDescriptor(), "gauge");
          shown.add(Published.of(known.name() + unit, "gauge", value.doubleValue()));
        }
      } else if (known != null && (active || known.name().startsWith("mallometer"))) {
        Number value = (Number) server.getAttribute(name, info.getName());
        String type = (String) info.getDescriptor().getFieldValue("metricType");
        if (value == null || Double.isNaN(value.doubleValue())) {
          continue;
        }
        shown.add(
            new Published(
                known.name() + suffix(info.getDescriptor(), type),
                type,
                known.labels(),
                value.doubleValue()));
      } else if (known != null && server.getAttribute(name, info.getName()) != null) {
        throw new AssertionError(info.getName() + " has a value although nothing is counted");
      }
    }
    shown.add(Published.of("mallometer_active", "gauge", active ? 1 : 0));
    CompositeData self = (CompositeData) server.getAttribute(name, "Self");
    Object version = server.getAttribute(name, "ApplicationVersion");
    if (version != null) {
      shown.add(
          Published.of("mallometer_application_info", "gauge", 1, "version", (String) version));
    }
    shown.add(
        Published.of(
            "mallometer_build_info",
            "gauge",
            1,
            "version",
            (String) self.get("build"),
            "allocator",
            (String) self.get("allocator"),
            "mode",
            (String) self.get("mode"),
            "accounting",
            (String) self.get("byteUnit")));
    shown.addAll(
        histogram(
            (CompositeData[]) server.getAttribute(name, "SizeDistribution"),
            (Long) server.getAttribute(name, "RequestedBytes")));
    return shown;
  }

  private static List<Published> ofAllocator(MBeanServer server, ObjectName name)
      throws JMException {
    String kind = (String) server.getAttribute(name, "Kind");
    List<Published> shown = new ArrayList<>();
    for (MBeanAttributeInfo info : server.getMBeanInfo(name).getAttributes()) {
      String metric = ALLOCATOR_NAMES.get(info.getName());
      Number value = metric == null ? null : (Number) server.getAttribute(name, info.getName());
      if (value != null) {
        String type = (String) info.getDescriptor().getFieldValue("metricType");
        shown.add(
            Published.of(
                metric + suffix(info.getDescriptor(), type),
                type,
                value.doubleValue(),
                "allocator",
                kind));
      }
    }
    return shown;
  }

  private static List<Published> tables(MBeanServer server, ObjectName name) throws JMException {
    List<Published> shown = new ArrayList<>();
    for (MBeanAttributeInfo info : server.getMBeanInfo(name).getAttributes()) {
      if (TABLES.containsKey(info.getName())) {
        shown.addAll(rows(info, (TabularData) server.getAttribute(name, info.getName())));
      }
    }
    return shown;
  }

  /**
   * Returns the number of call sites for each verdict. The verdict LEAK has one number for each
   * kind of evidence, and the sum of these numbers must be the total of LEAK.
   */
  private static List<Published> ofLeakDetector(MBeanServer server, ObjectName name)
      throws JMException {
    List<Published> shown = new ArrayList<>();
    double leaks = 0;
    for (Published row : tables(server, name)) {
      boolean leak = row.labels().containsKey("evidence");
      leaks += leak ? row.value() : 0;
      shown.add(leak ? with(row, "verdict", "leak") : row);
    }
    for (Object row : ((TabularData) server.getAttribute(name, "Sites")).values()) {
      CompositeData entry = (CompositeData) row;
      String verdict = (String) entry.get("key");
      long sites = (Long) entry.get("value");
      if (verdict.equals("leak")) {
        assertThat(sites).isEqualTo((long) leaks);
      } else {
        shown.add(
            Published.of(
                "native_malloc_leak_sites", "gauge", sites, "verdict", verdict, "evidence", ""));
      }
    }
    return shown;
  }

  private static Published with(Published row, String label, String value) {
    SortedMap<String, String> labels = new TreeMap<>(row.labels());
    labels.put(label, value);
    return new Published(row.name(), row.type(), labels, row.value());
  }

  private static List<Published> ofCallSites(MBeanServer server, ObjectName name)
      throws JMException {
    List<Published> shown = tables(server, name);
    Long samples = (Long) server.getAttribute(name, "Samples");
    if (samples != null) {
      shown.add(Published.of("mallometer_samples_total", "counter", samples));
      double target = (Double) server.getAttribute(name, "OverheadTarget");
      shown.add(Published.of("mallometer_overhead_target_ratio", "gauge", target));
    }
    return shown;
  }

  private static List<Published> rows(MBeanAttributeInfo info, TabularData table) {
    Published metric = TABLES.getOrDefault(info.getName(), Published.of("", "", 0));
    String label = metric.labels().firstKey();
    String type = (String) info.getDescriptor().getFieldValue("metricType");
    List<Published> rows = new ArrayList<>();
    for (Object row : table.values()) {
      CompositeData entry = (CompositeData) row;
      rows.add(
          Published.of(
              metric.name() + suffix(info.getDescriptor(), type),
              type,
              (Long) entry.get("value"),
              label,
              (String) entry.get("key")));
    }
    return rows;
  }

  private static String suffix(Descriptor descriptor, String type) {
    String unit =
        switch ((String) descriptor.getFieldValue("units")) {
          case "bytes" -> "_bytes";
          case "seconds" -> "_seconds";
          case "count" -> "";
          default -> "_of_unknown_unit";
        };
    return unit + (type.equals("counter") ? "_total" : "");
  }

  private static List<Published> histogram(CompositeData[] classes, Long sum) {
    List<Published> shown = new ArrayList<>();
    long cumulative = 0;
    for (CompositeData sizeClass : classes) {
      cumulative += (long) sizeClass.get("allocations");
      Long upTo = (Long) sizeClass.get("upToBytes");
      shown.add(
          Published.of(
              "native_malloc_request_size_bytes_bucket",
              "histogram",
              cumulative,
              "le",
              upTo == null ? "Infinity" : Double.toString(upTo)));
    }
    if (!shown.isEmpty()) {
      shown.add(Published.of("native_malloc_request_size_bytes_count", "histogram", cumulative));
      shown.add(Published.of("native_malloc_request_size_bytes_sum", "histogram", sum));
    }
    return shown;
  }
}
