package io.mallometer.internal.gate;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;

/**
 * Reads the output of {@code mallometer report --format json} as one sample of each counter and of
 * each part of resident memory. Unknown figures are left out.
 */
final class ReportResults {

  private static final String NAME = "process";
  private static final String COUNTERS = "process";
  private static final String VIEW = "nativememory";
  private static final String RESIDENT = "native.memory.resident";
  private static final String BYTES = "B";

  private ReportResults() {}

  static boolean are(JsonObject object) {
    return object.get(VIEW) instanceof JsonObject;
  }

  static void read(JsonFile file, JsonObject report, Results to) throws UnusableResultsException {
    JsonObject view = file.object(report, VIEW, "the report");
    if (!view.has(COUNTERS)) {
      String reason =
          file.object(view, "status", VIEW).has("reason")
              ? file.text(file.object(view, "status", VIEW), "reason", "status")
              : "the report does not say why";
      throw file.unusable("the process was not counted: " + reason);
    }
    JsonObject counters = file.object(view, COUNTERS, VIEW);
    add(file, "native.malloc.live", BYTES, counters, "liveBytes", to);
    add(file, "native.malloc.live.objects", "objects", counters, "liveObjects", to);
    add(file, "native.malloc.peak", BYTES, counters, "peakBytes", to);
    add(file, "native.malloc.requested", BYTES, counters, "requestedBytes", to);
    add(file, "native.malloc.allocated", BYTES, counters, "allocatedBytes", to);
    add(file, "native.malloc.freed", BYTES, counters, "freedBytes", to);
    add(file, "native.malloc.frees", "calls", counters, "frees", to);
    add(file, "native.malloc.allocations", "calls", counters, "allocations", to);
    JsonObject memory = file.object(view, "memory", VIEW);
    add(file, RESIDENT, BYTES, memory, "residentBytes", to);
    if (memory.has("resident")) {
      JsonObject split = file.object(memory, "resident", "memory");
      JsonObject parts = file.object(split, "parts", "resident");
      for (String part : parts.keySet()) {
        add(file, RESIDENT + "[" + part + "]", BYTES, parts, part, to);
      }
    }
  }

  private static void add(
      JsonFile file, String metric, String unit, JsonObject in, String field, Results to)
      throws UnusableResultsException {
    JsonElement value = in.get(field);
    if (value != null) {
      to.add(file, new Key(NAME, metric), unit, List.of(value));
    }
  }
}
