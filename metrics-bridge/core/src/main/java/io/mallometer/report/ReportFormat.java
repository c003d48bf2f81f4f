package io.mallometer.report;

import io.mallometer.CallSites;
import java.io.IOException;
import java.io.OutputStream;

/** The formats in which call sites are exported. */
public enum ReportFormat {
  /** A line for each stack, frames outermost first with semicolons between, and the figure. */
  COLLAPSED("collapsed", "text/plain;charset=UTF-8", "collapsed"),
  /** One HTML file. */
  FLAMEGRAPH("flamegraph", "text/html;charset=UTF-8", "html"),
  /** A gzipped profile for {@code go tool pprof}, with all four figures. */
  PPROF("pprof", "application/octet-stream", "pb.gz"),
  /** DHAT, version 2, for Valgrind's dh_view.html, with bytes and objects. */
  DHAT("dhat", "application/json", "json"),
  /** A table of counts and bytes, for build pipelines. */
  TABLE("table", "application/json", "json");

  private final String id;
  private final String contentType;
  private final String extension;

  ReportFormat(String id, String contentType, String extension) {
    this.id = id;
    this.contentType = contentType;
    this.extension = extension;
  }

  /** The name in addresses and options. */
  public String id() {
    return id;
  }

  /** The media type. */
  public String contentType() {
    return contentType;
  }

  /** What a file's name ends with, after the dot. */
  public String extension() {
    return extension;
  }

  /**
   * Writes a report; does not close the stream.
   *
   * @param metric what sizes mean, in the formats that show one figure; ignored by the others
   */
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    throw new IOException("not written yet");
  }
}
