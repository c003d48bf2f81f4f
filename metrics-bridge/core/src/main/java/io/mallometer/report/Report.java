package io.mallometer.report;

import io.mallometer.model.CallSites;
import java.io.IOException;
import java.io.OutputStream;

/** A format of a report. Implementations have no state. */
interface Report {

  /**
   * Streams a report. Flushes the stream and does not close it.
   *
   * @param metric the value to show; a format with several values shows it first, and a format with
   *     fixed values ignores it
   */
  void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException;
}
