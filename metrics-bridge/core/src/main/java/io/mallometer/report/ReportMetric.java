package io.mallometer.report;

import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import java.util.Optional;
import java.util.stream.Stream;

/** Figure of a call site that a report shows. */
public enum ReportMetric {
  /** Live bytes. */
  LIVE_BYTES("live", "bytes"),
  /** Live objects. */
  LIVE_OBJECTS("live-objects", "objects"),
  /** Bytes allocated since counting began. */
  ALLOCATED_BYTES("allocated", "bytes"),
  /** Objects allocated since counting began. */
  ALLOCATED_OBJECTS("allocated-objects", "objects");

  private final String id;
  private final String unit;

  ReportMetric(String id, String unit) {
    this.id = id;
    this.unit = unit;
  }

  /** Returns the figure with a name; empty if there is none. */
  public static Optional<ReportMetric> byId(String id) {
    return Stream.of(values()).filter(metric -> metric.id.equals(id)).findFirst();
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /** Returns {@code bytes} or {@code objects}. */
  public String unit() {
    return unit;
  }

  /** Returns the figure of a site. */
  public Estimate of(CallSite site) {
    return switch (this) {
      case LIVE_BYTES -> site.liveBytes();
      case LIVE_OBJECTS -> site.liveObjects();
      case ALLOCATED_BYTES -> site.allocatedBytes();
      case ALLOCATED_OBJECTS -> site.allocatedObjects();
    };
  }

  /** Returns the figure of a site as a whole number; 0 if it is unknown. */
  long wholeOf(CallSite site) {
    return Math.round(of(site).value());
  }
}
