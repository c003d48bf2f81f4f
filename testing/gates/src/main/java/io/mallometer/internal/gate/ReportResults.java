package io.mallometer.internal.gate;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.List;

/**
 * What {@code mallometer report --format json} writes: one sample of each counter, and of resident
 * memory by part. The metrics have the names of the meters. A figure that the process could not
 * tell is not there.
 */
final class ReportResults {

  private static final String NAME = "process";
  private static final String COUNTERS = "counters";
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
          view.has("reason") ? file.text(view, "reason", VIEW) : "the report does not say why";
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
    JsonObject allocations = file.object(counters, "allocations", COUNTERS);
    add(file, "native.malloc.allocations", "calls", allocations, "total", to);
    JsonObject breakdown = file.object(report, "breakdown", "the report");
    add(file, RESIDENT, BYTES, breakdown, "residentBytes", to);
    for (JsonElement element : file.array(breakdown, "parts", "breakdown")) {
      JsonObject part = file.object(element, "a part of the breakdown");
      String metric = RESIDENT + "[" + file.text(part, "part", "a part of the breakdown") + "]";
      add(file, metric, BYTES, part, "bytes", to);
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
