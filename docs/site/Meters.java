import io.mallometer.internal.text.JsonWriter;
import io.mallometer.meter.Meter;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Prints the list of meters as JSON, for docs/site/reference.py. Run with the classes of metrics-bridge/core. */
final class Meters {

  private Meters() {}

  public static void main(String[] arguments) throws IOException {
    Set<Meter> all = new LinkedHashSet<>(Meter.all());
    for (String bean : List.of("NativeMemory", "Allocator", "CallSites", "LeakDetector")) {
      all.addAll(Meter.shownBy(bean));
    }
    List<Map<String, Object>> rows = new ArrayList<>();
    rows.add(
        Map.of(
            "name", Meter.REQUEST_SIZE,
            "type", "histogram",
            "unit", "bytes",
            "meaning", Meter.requestSizeDescription()));
    all.forEach(meter -> rows.add(row(meter)));
    StringWriter out = new StringWriter();
    JsonWriter.to(out).tree(rows);
    System.out.println(out);
  }

  private static Map<String, Object> row(Meter meter) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", meter.name());
    row.put("type", meter.type().name().toLowerCase(Locale.ROOT));
    row.put("unit", meter.unit());
    row.put("meaning", meter.description());
    meter.attribute().ifPresent(shown -> row.put("bean", shown.bean()));
    meter.attribute().ifPresent(shown -> row.put("attribute", shown.name()));
    return row;
  }
}
