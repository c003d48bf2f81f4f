package io.mallometer.internal.interposer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.AllocatorKind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Map.Entry;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The offsets by which the bridge decodes are those that a C compiler gives mallometer.h. A field
 * that is appended there is appended here; none ever moves. The bridge reads it only where the
 * library says that it filled it ({@link ReportLayout#has}), and names it in {@link
 * ReportLayout#missing} where it did not.
 */
@Tag("process")
@Tag("any-jdk")
class LayoutTest {

  private static final Path HEADERS = Path.of("../../interposer/include");

  /** C expressions and what Java takes for their values. */
  private static final Map<String, Integer> BELIEVED =
      Map.ofEntries(
          Map.entry("MALLOMETER_ABI_VERSION", Availability.ABI_VERSION),
          Map.entry("MALLOMETER_SIZE_CLASSES", io.mallometer.model.SizeDistribution.CLASSES),
          Map.entry(
              "MALLOMETER_FIRST_LARGE_CLASS",
              io.mallometer.model.SizeDistribution.FIRST_LARGE_CLASS),
          Map.entry("MALLOMETER_INCOMPLETE", CountersLayout.INCOMPLETE),
          Map.entry("MALLOMETER_SINCE_START", CountersLayout.SINCE_START),
          Map.entry("MALLOMETER_STATE_COUNTING", ReportLayout.STATE_COUNTING),
          Map.entry("MALLOMETER_STATE_DISABLED", ReportLayout.STATE_DISABLED),
          Map.entry("MALLOMETER_STATE_NOT_PRELOADED", ReportLayout.STATE_NOT_PRELOADED),
          Map.entry("MALLOMETER_STATE_EXCLUDED", ReportLayout.STATE_EXCLUDED),
          Map.entry("MALLOMETER_STATE_UNSUPPORTED", ReportLayout.STATE_UNSUPPORTED),
          Map.entry("MALLOMETER_UNIT_USABLE", 1),
          Map.entry("MALLOMETER_UNIT_GLIBC_CHUNK", 2),
          Map.entry("MALLOMETER_UNIT_REQUESTED", 3),
          Map.entry("MALLOMETER_UNKNOWN", (int) AllocatorLayout.UNKNOWN),
          kind("GLIBC", AllocatorKind.GLIBC),
          kind("JEMALLOC", AllocatorKind.JEMALLOC),
          kind("TCMALLOC", AllocatorKind.TCMALLOC),
          kind("MIMALLOC", AllocatorKind.MIMALLOC),
          Map.entry("sizeof(struct mallometer_allocator_state)", AllocatorLayout.BYTES),
          allocator("size", AllocatorLayout.SIZE),
          allocator("kind", AllocatorLayout.KIND),
          allocator("rows", AllocatorLayout.ROWS),
          allocator("arenas", AllocatorLayout.ARENAS),
          allocator("system_bytes", AllocatorLayout.SYSTEM_BYTES),
          allocator("used_bytes", AllocatorLayout.USED_BYTES),
          allocator("retained_bytes", AllocatorLayout.RETAINED_BYTES),
          allocator("mapped_bytes", AllocatorLayout.MAPPED_BYTES),
          allocator("releasable_bytes", AllocatorLayout.RELEASABLE_BYTES),
          allocator("resident_bytes", AllocatorLayout.RESIDENT_BYTES),
          allocator("trims", AllocatorLayout.TRIMS),
          Map.entry("sizeof(struct mallometer_neighbour)", NeighboursLayout.BYTES),
          neighbours("site", NeighboursLayout.SITE),
          neighbours("flags", NeighboursLayout.FLAGS),
          neighbours("probability", NeighboursLayout.PROBABILITY),
          neighbours("born_ns", NeighboursLayout.BORN_NS),
          neighbours("before_bytes", NeighboursLayout.BEFORE_BYTES),
          neighbours("before_resident_bytes", NeighboursLayout.BEFORE_RESIDENT_BYTES),
          neighbours("before_returnable_bytes", NeighboursLayout.BEFORE_RETURNABLE_BYTES),
          neighbours("after_bytes", NeighboursLayout.AFTER_BYTES),
          neighbours("after_resident_bytes", NeighboursLayout.AFTER_RESIDENT_BYTES),
          neighbours("after_returnable_bytes", NeighboursLayout.AFTER_RETURNABLE_BYTES),
          Map.entry("sizeof(struct mallometer_arena)", AllocatorLayout.ROW_BYTES),
          arena("number", AllocatorLayout.ROW_NUMBER),
          arena("system_bytes", AllocatorLayout.ROW_SYSTEM_BYTES),
          arena("retained_bytes", AllocatorLayout.ROW_RETAINED_BYTES),
          arena("releasable_bytes", AllocatorLayout.ROW_RELEASABLE_BYTES),
          arena("top_bytes", AllocatorLayout.ROW_TOP_BYTES),
          Map.entry("MALLOMETER_SCOPE_THREAD", ScopeLayout.THREAD),
          Map.entry("MALLOMETER_SCOPE_PROCESS", ScopeLayout.PROCESS),
          Map.entry("MALLOMETER_SCOPE_MATCHED", ScopeLayout.MATCHED),
          Map.entry("MALLOMETER_SCOPE_INCOMPLETE", ScopeLayout.INCOMPLETE),
          Map.entry("MALLOMETER_SCOPE_HAS_MATCHES", ScopeLayout.HAS_MATCHES),
          Map.entry("MALLOMETER_SCOPE_OVERFLOWED", ScopeLayout.OVERFLOWED),
          Map.entry("sizeof(struct mallometer_scope)", ScopeLayout.BYTES),
          of("scope", "size", ScopeLayout.SIZE),
          of("scope", "flags", ScopeLayout.FLAGS),
          of("scope", "allocations", ScopeLayout.ALLOCATIONS),
          of("scope", "frees", ScopeLayout.FREES),
          of("scope", "failed", ScopeLayout.FAILED),
          of("scope", "requested_bytes", ScopeLayout.REQUESTED_BYTES),
          of("scope", "allocated_bytes", ScopeLayout.ALLOCATED_BYTES),
          of("scope", "freed_bytes", ScopeLayout.FREED_BYTES),
          of("scope", "net_bytes", ScopeLayout.NET_BYTES),
          of("scope", "peak_bytes", ScopeLayout.PEAK_BYTES),
          of("scope", "peak_error_bytes", ScopeLayout.PEAK_ERROR_BYTES),
          of("scope", "largest_bytes", ScopeLayout.LARGEST_BYTES),
          of("scope", "largest_error_bytes", ScopeLayout.LARGEST_ERROR_BYTES),
          of("scope", "temporary_allocations", ScopeLayout.TEMPORARY_ALLOCATIONS),
          of("scope", "temporary_bytes", ScopeLayout.TEMPORARY_BYTES),
          of("scope", "retained_allocations", ScopeLayout.RETAINED_ALLOCATIONS),
          of("scope", "retained_bytes", ScopeLayout.RETAINED_BYTES),
          of("scope", "foreign_frees", ScopeLayout.FOREIGN_FREES),
          of("scope", "foreign_freed_bytes", ScopeLayout.FOREIGN_FREED_BYTES),
          Map.entry("MALLOMETER_RECORDING_OFF", RecordingLayout.STATE_OFF),
          Map.entry("MALLOMETER_RECORDING_ON", RecordingLayout.STATE_ON),
          Map.entry("sizeof(struct mallometer_black_box)", RecordingLayout.BYTES),
          blackBox("size", RecordingLayout.SIZE),
          blackBox("state", RecordingLayout.STATE),
          blackBox("life", RecordingLayout.LIFE),
          blackBox("path", RecordingLayout.PATH),
          blackBox("reason", RecordingLayout.REASON),
          Map.entry("sizeof(struct mallometer_event)", EventLayout.BYTES),
          event("number", EventLayout.NUMBER),
          event("realtime_ns", EventLayout.REALTIME_NS),
          event("requested_bytes", EventLayout.REQUESTED_BYTES),
          event("thread_id", EventLayout.THREAD_ID),
          event("thread_name", EventLayout.THREAD_NAME),
          Map.entry("sizeof(struct mallometer_counters)", CountersLayout.BYTES),
          counters("size", CountersLayout.SIZE),
          counters("flags", CountersLayout.FLAGS),
          counters("threads", CountersLayout.THREADS),
          counters("allocations", CountersLayout.ALLOCATIONS),
          counters("frees", CountersLayout.FREES),
          counters("failed", CountersLayout.FAILED),
          counters("requested_bytes", CountersLayout.REQUESTED_BYTES),
          counters("allocated_bytes", CountersLayout.ALLOCATED_BYTES),
          counters("freed_bytes", CountersLayout.FREED_BYTES),
          counters("peak_live_bytes", CountersLayout.PEAK_LIVE_BYTES),
          counters("peak_error_bytes", CountersLayout.PEAK_ERROR_BYTES),
          counters("largest_request_bytes", CountersLayout.LARGEST_REQUEST_BYTES),
          counters("huge_allocations", CountersLayout.HUGE_ALLOCATIONS),
          counters("since_ns", CountersLayout.SINCE_NS),
          counters("live_bytes", CountersLayout.LIVE_BYTES),
          counters("baseline_bytes", CountersLayout.BASELINE_BYTES),
          counters("baseline_error_bytes", CountersLayout.BASELINE_ERROR_BYTES),
          Map.entry("sizeof(struct mallometer_report)", ReportLayout.BYTES),
          report("mode", ReportLayout.MODE),
          report("words", ReportLayout.WORDS),
          report("words_refused", ReportLayout.WORDS_REFUSED),
          report("calls_unseen", ReportLayout.CALLS_UNSEEN),
          report("since_ns", ReportLayout.SINCE_NS),
          report("attach_lock_ns", ReportLayout.ATTACH_LOCK_NS),
          report("drift_bytes", ReportLayout.DRIFT_BYTES),
          report("drift_bound_bytes", ReportLayout.DRIFT_BOUND_BYTES),
          report("sample_interval_bytes", ReportLayout.SAMPLE_INTERVAL_BYTES),
          report("samples", ReportLayout.SAMPLES),
          report("sampled_bytes", ReportLayout.SAMPLED_BYTES),
          report("samples_by_size_only", ReportLayout.SAMPLES_BY_SIZE_ONLY),
          report("samples_without_site", ReportLayout.SAMPLES_WITHOUT_SITE),
          report("samples_not_followed", ReportLayout.SAMPLES_NOT_FOLLOWED),
          report("live_samples", ReportLayout.LIVE_SAMPLES),
          report("call_sites", ReportLayout.CALL_SITES),
          report("samples_truncated", ReportLayout.SAMPLES_TRUNCATED),
          report("samples_without_java", ReportLayout.SAMPLES_WITHOUT_JAVA),
          report("sampling_ns", ReportLayout.SAMPLING_NS),
          report("overhead_target_ppm", ReportLayout.OVERHEAD_TARGET_PPM),
          report("sampling_share_ppm", ReportLayout.SAMPLING_SHARE_PPM),
          report("methods", ReportLayout.METHODS),
          report("modules", ReportLayout.MODULES),
          report("java", ReportLayout.JAVA),
          report("tables_bytes", ReportLayout.TABLES_BYTES),
          report("frames_without_method", ReportLayout.FRAMES_WITHOUT_METHOD),
          report("frames_without_module", ReportLayout.FRAMES_WITHOUT_MODULE),
          report("samples_without_stack", ReportLayout.SAMPLES_WITHOUT_STACK),
          report("event_bytes", ReportLayout.EVENT_BYTES),
          report("arena_bytes", ReportLayout.ARENA_BYTES),
          report("site_bytes", ReportLayout.SITE_BYTES),
          report("module_bytes", ReportLayout.MODULE_BYTES),
          report("object_bytes", ReportLayout.OBJECT_BYTES),
          report("evidence_bytes", ReportLayout.EVIDENCE_BYTES),
          report("access_bytes", ReportLayout.ACCESS_BYTES),
          report("sought_bytes", ReportLayout.SOUGHT_BYTES),
          Map.entry("sizeof(struct mallometer_site)", SiteLayout.BYTES),
          of("site", "number", SiteLayout.NUMBER),
          of("site", "frames", SiteLayout.FRAMES),
          of("site", "allocated", SiteLayout.ALLOCATED),
          of("site", "freed", SiteLayout.FREED),
          of("site_sums", "samples", SiteLayout.SAMPLES),
          of("site_sums", "objects", SiteLayout.OBJECTS),
          of("site_sums", "bytes", SiteLayout.SIZE),
          of("site_sums", "objects_variance", SiteLayout.OBJECTS_VARIANCE),
          of("site_sums", "bytes_variance", SiteLayout.SIZE_VARIANCE),
          Map.entry("sizeof(struct mallometer_module)", SiteLayout.MODULE_BYTES),
          of("module", "build_id_bytes", SiteLayout.MODULE_BUILD_ID_BYTES),
          of("module", "begin", SiteLayout.MODULE_BEGIN),
          of("module", "end", SiteLayout.MODULE_END),
          of("module", "bias", SiteLayout.MODULE_BIAS),
          of("module", "build_id", SiteLayout.MODULE_BUILD_ID),
          of("module", "path", SiteLayout.MODULE_PATH),
          Map.entry("MALLOMETER_METHOD_LINES", SiteLayout.METHOD_MOST_LINES),
          Map.entry("sizeof(struct mallometer_method)", SiteLayout.METHOD_BYTES),
          of("method", "size", SiteLayout.METHOD_SIZE),
          of("method", "class_signature", SiteLayout.METHOD_CLASS),
          of("method", "name", SiteLayout.METHOD_NAME),
          of("method", "source", SiteLayout.METHOD_SOURCE),
          of("method", "line_count", SiteLayout.METHOD_LINE_COUNT),
          of("method", "lines", SiteLayout.METHOD_LINES),
          Map.entry("sizeof(struct mallometer_object)", SiteLayout.OBJECT_BYTES),
          of("object", "bytes", SiteLayout.OBJECT_SIZE),
          of("object", "probability", SiteLayout.OBJECT_PROBABILITY),
          of("object", "born_ns", SiteLayout.OBJECT_BORN_NS),
          of("object", "site", SiteLayout.OBJECT_SITE),
          of("object", "placement", SiteLayout.OBJECT_PLACEMENT),
          of("object", "last_access_ns", SiteLayout.OBJECT_LAST_ACCESS_NS),
          Map.entry("MALLOMETER_LEAKS_OFF", LeakLayout.STATE_OFF),
          Map.entry("MALLOMETER_LEAKS_STARTING", LeakLayout.STATE_STARTING),
          Map.entry("MALLOMETER_LEAKS_ON", LeakLayout.STATE_ON),
          Map.entry("MALLOMETER_LEAKS_FAILED", LeakLayout.STATE_FAILED),
          Map.entry("MALLOMETER_LEAKS_BY_COLD", LeakLayout.BY_COLD),
          Map.entry("MALLOMETER_LEAKS_BY_CLEAR_REFS", LeakLayout.BY_CLEAR_REFS),
          Map.entry("MALLOMETER_SLOT_CLASSES", LeakLayout.SLOT_CLASSES),
          Map.entry("MALLOMETER_OPTION_SHORTEST_EPOCH", LeakLayout.OPTION_SHORTEST_EPOCH),
          Map.entry("MALLOMETER_OPTION_EPOCH_OVER_COST", LeakLayout.OPTION_EPOCH_OVER_COST),
          Map.entry("sizeof(struct mallometer_observation)", LeakLayout.BYTES),
          of("observation", "size", LeakLayout.SIZE),
          of("observation", "state", LeakLayout.STATE),
          of("observation", "method", LeakLayout.METHOD),
          of("observation", "started_ns", LeakLayout.STARTED_NS),
          of("observation", "epochs", LeakLayout.EPOCHS),
          of("observation", "void_epochs", LeakLayout.VOID_EPOCHS),
          of("observation", "epoch_end_ns", LeakLayout.EPOCH_END_NS),
          of("observation", "epoch_ns", LeakLayout.EPOCH_NS),
          of("observation", "cpu_ns", LeakLayout.CPU_NS),
          of("observation", "arena_bytes", LeakLayout.ARENA_BYTES),
          of("observation", "resident_bytes", LeakLayout.RESIDENT_BYTES),
          of("observation", "limit_bytes", LeakLayout.LIMIT_BYTES),
          of("observation", "slots_in_use", LeakLayout.SLOTS_IN_USE),
          of("observation", "slots", LeakLayout.SLOTS),
          of("observation", "placed", LeakLayout.PLACED),
          of("observation", "not_placed", LeakLayout.NOT_PLACED),
          of("observation", "too_large", LeakLayout.TOO_LARGE),
          of("observation", "retired", LeakLayout.RETIRED),
          of("observation", "can_watch", LeakLayout.CAN_WATCH),
          of("observation", "reason", LeakLayout.REASON),
          of("observation", "watch_reason", LeakLayout.WATCH_REASON),
          Map.entry(
              "MALLOMETER_DURATION_BUCKETS", io.mallometer.internal.interposer.Durations.BUCKETS),
          Map.entry("sizeof(struct mallometer_durations)", LeakLayout.DURATIONS_BYTES),
          of("durations", "count", LeakLayout.DURATION_COUNT),
          of("durations", "weight", LeakLayout.DURATION_WEIGHT),
          Map.entry("sizeof(struct mallometer_site_evidence)", LeakLayout.SITE_BYTES),
          of("site_evidence", "site", LeakLayout.SITE),
          of("site_evidence", "placed", LeakLayout.SITE_PLACED),
          of("site_evidence", "freed", LeakLayout.SITE_FREED),
          of("site_evidence", "lifetimes", LeakLayout.SITE_LIFETIMES),
          of("site_evidence", "idle_before_free", LeakLayout.SITE_IDLE_BEFORE_FREE),
          of("site_evidence", "gaps", LeakLayout.SITE_GAPS),
          Map.entry("MALLOMETER_ACCESS_FRAMES", LeakLayout.ACCESS_MOST_FRAMES),
          Map.entry("MALLOMETER_ACCESS", LeakLayout.ANY_ACCESS),
          Map.entry("MALLOMETER_WRITE", LeakLayout.WRITE),
          Map.entry("sizeof(struct mallometer_access)", LeakLayout.ACCESS_BYTES),
          of("access", "site", LeakLayout.ACCESS_SITE),
          of("access", "kind", LeakLayout.ACCESS_KIND),
          of("access", "monotonic_ns", LeakLayout.ACCESS_MONOTONIC_NS),
          of("access", "thread_id", LeakLayout.ACCESS_THREAD_ID),
          of("access", "frames", LeakLayout.ACCESS_FRAMES),
          of("access", "thread_name", LeakLayout.ACCESS_THREAD_NAME),
          of("access", "stack", LeakLayout.ACCESS_STACK),
          Map.entry("MALLOMETER_SEARCH_NONE", SearchLayout.STATE_NONE),
          Map.entry("MALLOMETER_SEARCH_RUNNING", SearchLayout.STATE_RUNNING),
          Map.entry("MALLOMETER_SEARCH_DONE", SearchLayout.STATE_DONE),
          Map.entry("MALLOMETER_SEARCH_FAILED", SearchLayout.STATE_FAILED),
          Map.entry("sizeof(struct mallometer_searched)", SearchLayout.BYTES),
          of("searched", "size", SearchLayout.SIZE),
          of("searched", "state", SearchLayout.STATE),
          of("searched", "number", SearchLayout.NUMBER),
          of("searched", "began_ns", SearchLayout.BEGAN_NS),
          of("searched", "ended_ns", SearchLayout.ENDED_NS),
          of("searched", "cpu_ns", SearchLayout.CPU_NS),
          of("searched", "searched_bytes", SearchLayout.SEARCHED_BYTES),
          of("searched", "resident_bytes", SearchLayout.RESIDENT_BYTES),
          of("searched", "swapped_bytes", SearchLayout.SWAPPED_BYTES),
          of("searched", "objects", SearchLayout.OBJECTS),
          of("searched", "left_out", SearchLayout.LEFT_OUT),
          of("searched", "reason", SearchLayout.REASON),
          Map.entry("sizeof(struct mallometer_sought)", SearchLayout.OBJECT_BYTES),
          of("sought", "id", SearchLayout.OBJECT_ID),
          of("sought", "bytes", SearchLayout.OBJECT_SIZE),
          of("sought", "probability", SearchLayout.OBJECT_PROBABILITY),
          of("sought", "born_ns", SearchLayout.OBJECT_BORN_NS),
          of("sought", "site", SearchLayout.OBJECT_SITE),
          of("sought", "references", SearchLayout.OBJECT_REFERENCES),
          of("sought", "freed", SearchLayout.OBJECT_FREED),
          Map.entry("sizeof(struct mallometer_owners)", OwnerLayout.BYTES),
          Map.entry("sizeof(struct mallometer_hold)", OwnerLayout.HOLD_BYTES),
          Map.entry("sizeof(struct mallometer_heap_object)", OwnerLayout.OBJECT_BYTES),
          Map.entry("sizeof(struct mallometer_heap_link)", OwnerLayout.LINK_BYTES),
          of("owners", "size", OwnerLayout.SIZE),
          of("owners", "samples", OwnerLayout.SAMPLES),
          of("owners", "samples_left_out", OwnerLayout.SAMPLES_LEFT_OUT),
          of("owners", "samples_freed", OwnerLayout.SAMPLES_FREED),
          of("owners", "holds", OwnerLayout.HOLDS),
          of("owners", "objects", OwnerLayout.OBJECTS),
          of("owners", "links", OwnerLayout.LINKS),
          of("owners", "left_out", OwnerLayout.LEFT_OUT),
          of("owners", "pointers", OwnerLayout.POINTERS),
          of("owners", "next_objects", OwnerLayout.NEXT_OBJECTS),
          of("owners", "next_classes", OwnerLayout.NEXT_CLASSES),
          of("owners", "walk_ns", OwnerLayout.WALK_NS),
          of("hold", "sample", OwnerLayout.HOLD_SAMPLE),
          of("hold", "freed", OwnerLayout.HOLD_FREED),
          of("hold", "object", OwnerLayout.HOLD_OBJECT),
          of("hold", "class_name", OwnerLayout.HOLD_CLASS_NAME),
          of("hold", "field_name", OwnerLayout.HOLD_FIELD_NAME),
          of("hold", "steps", OwnerLayout.HOLD_STEPS),
          of("heap_object", "class_name", OwnerLayout.OBJECT_CLASS_NAME),
          of("heap_object", "kinds", OwnerLayout.OBJECT_KINDS),
          of("heap_object", "flags", OwnerLayout.OBJECT_FLAGS),
          of("heap_link", "object", OwnerLayout.LINK_OBJECT),
          of("heap_link", "referrer", OwnerLayout.LINK_REFERRER),
          of("heap_link", "kind", OwnerLayout.LINK_KIND),
          of("heap_link", "name", OwnerLayout.LINK_NAME),
          Map.entry("MALLOMETER_OWNERS_HOLDS", OwnerLayout.HOLD_ROWS),
          Map.entry("MALLOMETER_OWNERS_OBJECTS", OwnerLayout.OBJECT_ROWS),
          Map.entry("MALLOMETER_OWNERS_LINKS", OwnerLayout.LINK_ROWS),
          Map.entry("MALLOMETER_HEAP_OBJECT_CLASS", OwnerLayout.KIND_CLASS),
          Map.entry("MALLOMETER_HEAP_OBJECT_THREAD", OwnerLayout.KIND_THREAD),
          Map.entry("MALLOMETER_HEAP_OBJECT_REFERENCE", OwnerLayout.KIND_REFERENCE),
          Map.entry("MALLOMETER_HEAP_OBJECT_SOFT", OwnerLayout.KIND_SOFT),
          Map.entry("MALLOMETER_HEAP_OBJECT_PHANTOM", OwnerLayout.KIND_PHANTOM),
          Map.entry("MALLOMETER_HEAP_OBJECT_FINAL", OwnerLayout.KIND_FINAL),
          Map.entry("MALLOMETER_HEAP_OBJECT_EXPANDED", OwnerLayout.FLAG_EXPANDED),
          Map.entry("MALLOMETER_HEAP_OBJECT_MORE", OwnerLayout.FLAG_MORE),
          Map.entry("MALLOMETER_HEAP_OBJECT_REACHED", OwnerLayout.FLAG_REACHED),
          Map.entry("MALLOMETER_HEAP_OBJECT_FOLLOWED", OwnerLayout.FLAG_FOLLOWED),
          Map.entry("MALLOMETER_OWNERS_HOLDERS", 1 + OwnerSearch.Step.HOLDERS.ordinal()),
          Map.entry("MALLOMETER_OWNERS_POINTERS", 1 + OwnerSearch.Step.POINTERS.ordinal()),
          Map.entry(
              "MALLOMETER_OWNERS_POINTER_HOLDERS", 1 + OwnerSearch.Step.POINTER_HOLDERS.ordinal()),
          Map.entry("MALLOMETER_OWNERS_REFERRERS", 1 + OwnerSearch.Step.REFERRERS.ordinal()),
          report("size", ReportLayout.SIZE),
          report("state", ReportLayout.STATE),
          report("byte_unit", ReportLayout.BYTE_UNIT),
          report("footprint_bytes", ReportLayout.FOOTPRINT_BYTES),
          report("overhead_ns", ReportLayout.OVERHEAD_NS),
          report("threads_without_block", ReportLayout.THREADS_WITHOUT_BLOCK),
          report("huge_threshold_bytes", ReportLayout.HUGE_THRESHOLD_BYTES),
          report("build", ReportLayout.BUILD),
          report("allocator", ReportLayout.ALLOCATOR),
          report("reason", ReportLayout.REASON));

  @TempDir private Path directory;

  @Test
  void offsetsAreTheCompilers() throws Exception {
    assertThat(compiled()).isEqualTo(new TreeMap<>(BELIEVED));
  }

  private Map<String, Integer> compiled() throws Exception {
    StringBuilder program =
        new StringBuilder("#include <stdio.h>\n#include \"mallometer.h\"\nint main(void) {\n");
    for (String expression : BELIEVED.keySet()) {
      program.append("printf(\"%s=%d\\n\", \"" + expression + "\", (int)(" + expression + "));\n");
    }
    Path source = Files.writeString(directory.resolve("layout.c"), program + "return 0;\n}\n");
    Path executable = directory.resolve("layout");
    output("gcc", "-I", HEADERS.toString(), "-o", executable.toString(), source.toString());
    Map<String, Integer> values = new TreeMap<>();
    for (String line : output(executable.toString()).split("\n")) {
      int equals = line.lastIndexOf('=');
      values.put(line.substring(0, equals), Integer.parseInt(line.substring(equals + 1)));
    }
    return values;
  }

  private static String output(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  private static Entry<String, Integer> counters(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_counters, " + field + ")", offset);
  }

  private static Entry<String, Integer> kind(String name, AllocatorKind kind) {
    int number = IntStream.range(0, 10).filter(n -> AllocatorLayout.kind(n) == kind).sum();
    return Map.entry("MALLOMETER_ALLOCATOR_" + name, number);
  }

  private static Entry<String, Integer> allocator(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_allocator_state, " + field + ")", offset);
  }

  private static Entry<String, Integer> blackBox(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_black_box, " + field + ")", offset);
  }

  private static Entry<String, Integer> arena(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_arena, " + field + ")", offset);
  }

  private static Entry<String, Integer> neighbours(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_neighbour, " + field + ")", offset);
  }

  private static Entry<String, Integer> event(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_event, " + field + ")", offset);
  }

  private static Entry<String, Integer> of(String struct, String field, int offset) {
    return Map.entry("offsetof(struct mallometer_" + struct + ", " + field + ")", offset);
  }

  private static Entry<String, Integer> report(String field, int offset) {
    return Map.entry("offsetof(struct mallometer_report, " + field + ")", offset);
  }
}
