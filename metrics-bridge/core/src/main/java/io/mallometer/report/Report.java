package io.mallometer.report;

import io.mallometer.model.CallSites;
import java.io.IOException;
import java.io.OutputStream;

/** One format. Its implementations have no state. */
interface Report {

  /**
   * Writes a report while it is made; flushes the stream and does not close it.
   *
   * @param metric the figure, in formats that show one
   */
  void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException;
}
