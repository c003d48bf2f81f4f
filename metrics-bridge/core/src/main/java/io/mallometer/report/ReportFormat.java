package io.mallometer.report;

import io.mallometer.model.CallSites;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.SiteChanges;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import java.util.stream.Stream;

/** Formats in which call sites are exported. */
public enum ReportFormat {
  /** A line for each stack: the frames, outermost first, separated by semicolons, and the value. */
  COLLAPSED(
      "collapsed",
      "text/plain;charset=UTF-8",
      "collapsed",
      "a line for each stack, for flame graph scripts",
      new CollapsedReport()),
  /** An HTML file that draws all four metrics and needs no other file. */
  FLAMEGRAPH(
      "flamegraph",
      "text/html;charset=UTF-8",
      "html",
      "one HTML file that needs no other file",
      new FlameGraphReport()),
  /** A gzipped profile for {@code go tool pprof}, with all four metrics. */
  PPROF(
      "pprof",
      "application/octet-stream",
      "pb.gz",
      "a profile for go tool pprof",
      new PprofReport()),
  /** A file with bytes and objects for Valgrind's {@code dh_view.html} (DHAT, version 2). */
  DHAT("dhat", "application/json", "json", "for dh_view.html of Valgrind", new DhatReport()),
  /** A table of counts and bytes, for build pipelines. */
  TABLE("table", "application/json", "json", "a table for build pipelines", new TableReport());

  /** The metric name that selects {@link ResidentStacks} instead of a {@link ReportMetric}. */
  public static final String RESIDENT = "resident";

  private final String id;
  private final String contentType;
  private final String extension;
  private final String title;
  private final Report report;

  ReportFormat(String id, String contentType, String extension, String title, Report report) {
    this.id = id;
    this.contentType = contentType;
    this.extension = extension;
    this.title = title;
    this.report = report;
  }

  /** Returns the format with a name; empty if there is none. */
  public static Optional<ReportFormat> byId(String id) {
    return Stream.of(values()).filter(format -> format.id.equals(id)).findFirst();
  }

  /** Returns the name that URLs and options use. */
  public String id() {
    return id;
  }

  /** Returns the media type. */
  public String contentType() {
    return contentType;
  }

  /** Returns the suffix of a file's name, without the dot. */
  public String extension() {
    return extension;
  }

  /** Returns the purpose of the format, in a few words. */
  public String title() {
    return title;
  }

  /**
   * Streams a report, so its text is never in memory as a whole. Flushes the stream and does not
   * close it.
   *
   * @param metric the value that the format shows, or shows first if it has several; ignored by
   *     formats without a choice
   */
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    report.write(sites, metric, out);
  }

  /**
   * Writes the resident set, divided by the code that requested the memory.
   *
   * @throws IllegalArgumentException unless the format is {@link #FLAMEGRAPH} or {@link #COLLAPSED}
   */
  public void write(ResidentStacks resident, OutputStream out) throws IOException {
    switch (this) {
      case FLAMEGRAPH -> FlameGraphReport.write(resident, out);
      case COLLAPSED -> CollapsedReport.write(resident, out);
      default -> throw new IllegalArgumentException(id + " does not show resident bytes");
    }
  }

  /** Returns whether the format shows the resident set. */
  public boolean showsResident() {
    return this == FLAMEGRAPH || this == COLLAPSED;
  }

  /**
   * Writes a {@link #PPROF} profile of an interval, as profile stores expect it: the memory
   * allocated between two readings, and the memory live at the second.
   */
  public static void writeInterval(CallSites before, CallSites now, OutputStream out)
      throws IOException {
    PprofReport.write(before, now, out);
  }

  /**
   * Writes the changes between two moments in the format of {@link #PPROF}. Decreases are negative.
   * The duration of the profile is the time between the moments.
   *
   * @param now a reading of all sites
   * @param metric the value that is shown first
   * @throws IllegalArgumentException with the reason, if nothing is known about the moments
   */
  public static void writeChanges(
      SiteChanges changes, CallSites now, ReportMetric metric, OutputStream out)
      throws IOException {
    PprofReport.write(changes, now, metric, out);
  }
}
