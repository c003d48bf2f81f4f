package io.mallometer.jmx;

import io.mallometer.Mallometer;
import io.mallometer.meter.Meter;
import io.mallometer.model.Snapshot;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenMBeanAttributeInfoSupport;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularData;
import javax.management.openmbean.TabularDataSupport;
import javax.management.openmbean.TabularType;
import org.jspecify.annotations.Nullable;

/**
 * The attributes that an MBean has from the list of meters. A number is null while it is unknown; a
 * time is {@code NaN}, because typed clients read a primitive number. Tables lack unknown rows.
 */
final class Figures {

  /** As JMX maps {@code Map<String, Long>}. */
  private static final String MAP = "java.util.Map<java.lang.String, java.lang.Long>";

  private static final OpenRow ROW =
      new OpenRow(MAP, MAP, new String[] {"key", "value"}, SimpleType.STRING, SimpleType.LONG);
  private static final TabularType TABLE = table();

  private final Mallometer mallometer;
  private final Map<String, Meter> byAttribute;

  /** The figures of the MBean whose name has this key {@code type}. */
  Figures(Mallometer mallometer, String type) {
    this.mallometer = mallometer;
    this.byAttribute =
        Meter.shownBy(type).stream()
            .collect(Collectors.toMap(meter -> shown(meter).name(), Function.identity()));
  }

  boolean has(String attribute) {
    return byAttribute.containsKey(attribute);
  }

  /** The value as open data. */
  @Nullable Object value(String attribute) {
    Meter meter = byAttribute.get(attribute);
    Snapshot snapshot = mallometer.scraped();
    List<Meter.Series> series = meter.series(snapshot);
    if (shown(meter).isTable()) {
      return rows(series, snapshot);
    }
    if (series.isEmpty()) {
      boolean unknown = !meter.seriesOf().apply(snapshot).isEmpty();
      return unknown && meter.unit().equals("seconds") ? (Double) Double.NaN : null;
    }
    double sum = series.stream().mapToDouble(one -> value(one, snapshot)).sum();
    if (type(meter) == SimpleType.LONG) {
      return NativeMemory.known(sum);
    }
    return (Double) sum;
  }

  List<MBeanAttributeInfo> describe() {
    return byAttribute.values().stream().map(Figures::describe).toList();
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
                shown.units(),
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
    TabularData rows = new TabularDataSupport(TABLE);
    for (Meter.Series one : series) {
      double value = value(one, snapshot);
      if (!Double.isNaN(value)) {
        rows.put(ROW.of(one.tags().get(0).value(), Math.round(value)));
      }
    }
    return rows;
  }

  private double value(Meter.Series series, Snapshot snapshot) {
    return series.figure().of(snapshot, mallometer.clock());
  }

  private static Meter.Attribute shown(Meter meter) {
    return meter.attribute().orElseThrow();
  }

  private static TabularType table() {
    try {
      return new TabularType(MAP, MAP, ROW.type(), new String[] {"key"});
    } catch (OpenDataException e) {
      throw new IllegalStateException("a constant type is valid", e);
    }
  }
}
