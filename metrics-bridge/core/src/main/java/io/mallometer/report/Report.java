package io.mallometer.report;

import io.mallometer.model.CallSites;
import java.io.IOException;
import java.io.OutputStream;

/** A format of a report. Implementations have no state. */
interface Report {

  /**
   * Streams a report. Flushes the stream and does not close it.
   *
   * @param metric the value that the format shows, or shows first if it has several; formats
   *     without a choice ignore it
   */
  void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException;
}
