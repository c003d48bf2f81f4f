package io.mallometer.report;

import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;

/** A figure of call sites that a report can show. */
public enum ReportMetric {
  /** Live bytes. */
  LIVE_BYTES("live"),
  /** Live objects. */
  LIVE_OBJECTS("live-objects"),
  /** Bytes allocated since counting began. */
  ALLOCATED_BYTES("allocated"),
  /** Objects allocated since counting began. */
  ALLOCATED_OBJECTS("allocated-objects");

  private final String id;

  ReportMetric(String id) {
    this.id = id;
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /** Returns the value of a site. */
  public Estimate of(CallSite site) {
    return switch (this) {
      case LIVE_BYTES -> site.liveBytes();
      case LIVE_OBJECTS -> site.liveObjects();
      case ALLOCATED_BYTES -> site.allocatedBytes();
      case ALLOCATED_OBJECTS -> site.allocatedObjects();
    };
  }

  /** Returns the value of a site as a whole number; 0 if it is unknown. */
  long wholeOf(CallSite site) {
    return Math.round(of(site).value());
  }
}
