package io.mallometer.report;

import io.mallometer.model.CallSites;
import java.io.IOException;
import java.io.OutputStream;

/** A format of a report. Implementations have no state. */
interface Report {

  /**
   * Streams a report. Flushes the stream and does not close it.
   *
   * @param metric the value that a format with a single value shows; other formats ignore it
   */
  void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException;
}
