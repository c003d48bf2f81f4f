package io.mallometer.agent.command;

import io.mallometer.internal.history.RecordingReport;
import io.mallometer.internal.text.Choice;
import io.mallometer.model.KeptMoment;
import io.mallometer.report.ReportFormat;
import io.mallometer.report.ReportMetric;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints a report of a process or a recording. */
@Command(
    name = "report",
    description = {
      "Shows where the memory of a JVM is, or what a recording (MALLOMETER_RECORDING) recorded and"
          + " how the process ended."
    })
final class ReportCommand implements Callable<Integer> {

  private static final String TEXT = "text";
  private static final String JSON = "json";
  private static final String HTML = "html";

  @Parameters(
      paramLabel = "PID|URL|FILE",
      description =
          "a JVM of this user, the address of an agent or of an application with the endpoint"
              + " nativememory, or a recording")
  private String target = "";

  @Option(
      names = "--format",
      defaultValue = TEXT,
      description =
          "text, html, json (which diff reads), dhat, pprof, collapsed, flamegraph or table;"
              + " ${DEFAULT-VALUE} by default. A recording has neither html nor json, and has"
              + " only the call sites that --at names")
  private String format = TEXT;

  @Option(
      names = "--duration",
      paramLabel = "TIME",
      description =
          "first watch for this time, such as 1m or 10m; text, html and json show what changed"
              + " in it, over at least a minute")
  private @Nullable String duration;

  @Option(
      names = "--metric",
      defaultValue = "live",
      description =
          "live, live-objects, allocated or allocated-objects, in formats that show one value;"
              + " in flamegraph and collapsed also resident, the resident set by the code that"
              + " asked for it")
  private String metric = "live";

  @Option(
      names = "--at",
      paramLabel = "MOMENT",
      description =
          "call sites as they were at the peak (peak), or when 85, 90 or 95 percent of the limit"
              + " were last exceeded; not in text, html and json. For a recording: peak by default")
  private @Nullable String at;

  @Option(names = "--limit", defaultValue = "20", description = "how many call sites to show")
  private int limit = 20;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "the file to write, in place of standard output")
  private @Nullable Path output;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = Target.TIMEOUT,
      description = Target.ABOUT_TIMEOUT)
  private String timeout = Target.TIMEOUT;

  @Option(names = "--user", paramLabel = "NAME", defaultValue = "", description = Target.ABOUT_USER)
  private String user = "";

  @Override
  public Integer call() throws Exception {
    check();
    if (!Target.isProcess(target) && !Target.isAddress(target)) {
      return recording();
    }
    Duration span = duration == null ? Duration.ZERO : Target.span("--duration", duration);
    try (Source source = Target.open(target, user, Target.span("--timeout", timeout));
        Output out = Output.to(output)) {
      report(source, watched(source, span), out);
      out.finish();
    }
    return ExitCode.OK;
  }

  private void check() throws Failure {
    try {
      checkMetric();
      String[] formats =
          Stream.concat(
                  Stream.of(TEXT, HTML, JSON),
                  Stream.of(ReportFormat.values()).map(ReportFormat::id))
              .toArray(String[]::new);
      Choice.of("--format", format, formats, known -> known);
      if (at != null) {
        Choice.of("--at", at, KeptMoment.values(), KeptMoment::id);
        if (ReportFormat.byId(format).isEmpty()) {
          throw new IllegalArgumentException("--at needs a --format of call sites, such as pprof");
        }
      }
    } catch (IllegalArgumentException e) {
      throw new Failure(ExitCode.USAGE, String.valueOf(e.getMessage()));
    }
    if (limit < 1 || limit > 10_000) {
      throw new Failure(ExitCode.USAGE, "--limit must be from 1 to 10000");
    }
  }

  private void checkMetric() {
    if (!metric.equals(ReportFormat.RESIDENT)) {
      Choice.of("--metric", metric, ReportMetric.values(), ReportMetric::id);
    } else if (!ReportFormat.byId(format).map(ReportFormat::showsResident).orElse(false)
        || at != null) {
      throw new IllegalArgumentException(
          "--metric resident needs --format flamegraph or collapsed, and no --at");
    }
  }

  private int recording() throws Failure, IOException {
    Optional<ReportFormat> ofSites = ReportFormat.byId(format);
    if (ofSites.isPresent()) {
      return boxProfile(ofSites.get());
    }
    if (!format.equals(TEXT)) {
      throw new Failure(ExitCode.USAGE, "a recording has no " + format);
    }
    String text = RecordingReport.of(Path.of(target));
    try (Output out = Output.to(output)) {
      out.print(text).finish();
    }
    return ExitCode.OK;
  }

  private int boxProfile(ReportFormat sites) throws Failure, IOException {
    if (metric.equals(ReportFormat.RESIDENT)) {
      throw new Failure(ExitCode.USAGE, "a recording has no resident bytes of call sites");
    }
    KeptMoment moment =
        at == null ? KeptMoment.PEAK : Choice.of("--at", at, KeptMoment.values(), KeptMoment::id);
    ReportMetric figure = Choice.of("--metric", metric, ReportMetric.values(), ReportMetric::id);
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    sites.write(RecordingReport.profile(Path.of(target), moment), figure, written);
    try (Output out = Output.to(output)) {
      out.copy(new ByteArrayInputStream(written.toByteArray()));
      out.finish();
    }
    return ExitCode.OK;
  }

  /**
   * Returns how the live bytes of call sites changed during the time span, as JSON; empty if the
   * span is zero.
   */
  private Optional<String> watched(Source source, Duration span) throws Exception {
    if (span.isZero()) {
      return Optional.empty();
    }
    SiteGrowth growth = SiteGrowth.from(source);
    Progress progress = Progress.begin("watching " + source.name(), span);
    try {
      Thread.sleep(span.toMillis());
    } finally {
      progress.end();
    }
    return Optional.of(growth.until(source, limit));
  }

  private void report(Source source, Optional<String> changes, Output out) throws Exception {
    Progress progress = Progress.begin("reading " + source.name());
    try {
      switch (format) {
        case JSON -> out.print(overview(source, changes).json());
        case TEXT -> out.print(OverviewText.of(source.name(), target, overview(source, changes)));
        case HTML -> out.print(page(source.name(), target, overview(source, changes)));
        default -> {
          Source.Reply reply =
              source.get(format + "?metric=" + metric + (at == null ? "" : "&at=" + at));
          try (InputStream body = reply.body()) {
            out.copy(body);
          }
        }
      }
    } finally {
      progress.end();
    }
  }

  private Overview overview(Source source, Optional<String> changes) throws Failure, IOException {
    Overview overview = Overview.of(source, limit);
    return changes.map(overview::with).orElse(overview);
  }

  /** Returns the text in an HTML page that loads no other files. */
  private static String page(String name, String target, Overview overview) {
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="UTF-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'">
        <meta name="viewport" content="width=device-width">
        <title>Native memory of %s</title>
        </head>
        <body>
        <pre>%s</pre>
        </body>
        </html>
        """
        .formatted(Text.html(name), Text.html(OverviewText.of(name, target, overview)));
  }
}
