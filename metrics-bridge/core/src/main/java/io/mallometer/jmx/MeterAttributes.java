package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.meter.Meter;
import io.mallometer.model.Snapshot;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularData;
import javax.management.openmbean.TabularType;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of an MBean that show {@link Meter meters}. An unknown number is null. Tables omit
 * unknown rows.
 */
final class MeterAttributes {

  private static final TabularType TABLE = OpenRecords.table(SimpleType.LONG);

  private final Mallometer mallometer;
  private final String type;
  private @Nullable Map<String, Meter> byAttribute;

  MeterAttributes(Mallometer mallometer, String type) {
    this.mallometer = mallometer;
    this.type = type;
  }

  /**
   * Returns the meters by attribute. The first call builds the map, so that registration stays
   * fast.
   */
  private synchronized Map<String, Meter> byAttribute() {
    @Nullable Map<String, Meter> known = byAttribute;
    if (known == null) {
      known =
          Meter.shownBy(type).stream()
              .collect(Collectors.toMap(meter -> shown(meter).name(), Function.identity()));
      byAttribute = known;
    }
    return known;
  }

  boolean has(String attribute) {
    return byAttribute().containsKey(attribute);
  }

  @Nullable Object value(String attribute) {
    Meter meter = byAttribute().get(attribute);
    Snapshot snapshot = mallometer.scraped();
    List<Meter.Series> series = meter.series(snapshot);
    if (shown(meter).isTable()) {
      return rows(series, snapshot);
    }
    if (series.isEmpty()) {
      return null;
    }
    double sum = series.stream().mapToDouble(one -> value(one, snapshot)).sum();
    return type(meter) == SimpleType.LONG ? (Object) (long) sum : (Object) sum;
  }

  List<MBeanAttributeInfo> describe() {
    return byAttribute().values().stream().map(MeterAttributes::describe).toList();
  }

  private static MBeanAttributeInfo describe(Meter meter) {
    Meter.Attribute shown = shown(meter);
    return new OpenMBeanAttributeInfoSupport(
        shown.name(),
        meter.description(),
        type(meter),
        true,
        false,
        false,
        new ImmutableDescriptor(
            Map.of(
                "units",
                meter.unit().isEmpty() ? "count" : meter.unit(),
                "metricType",
                meter.type().name().toLowerCase(Locale.ROOT))));
  }

  private static OpenType<?> type(Meter meter) {
    if (shown(meter).isTable()) {
      return TABLE;
    }
    return switch (meter.unit()) {
      case "seconds", "ratio" -> SimpleType.DOUBLE;
      default -> SimpleType.LONG;
    };
  }

  private TabularData rows(List<Meter.Series> series, Snapshot snapshot) {
    Map<String, Long> rows = new LinkedHashMap<>();
    for (Meter.Series one : series) {
      rows.put(one.tags().get(0).value(), Math.round(value(one, snapshot)));
    }
    return OpenRecords.rows(TABLE, rows);
  }

  private double value(Meter.Series series, Snapshot snapshot) {
    return series.figure().of(snapshot, mallometer.clock());
  }

  private static Meter.Attribute shown(Meter meter) {
    return meter.attribute().orElseThrow();
  }
}
