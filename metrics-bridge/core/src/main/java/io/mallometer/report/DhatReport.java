package io.mallometer.report;

import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.StackFrame;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a file in version 2 of DHAT's format, which Valgrind's {@code dh_view.html} loads.
 *
 * <p>Samples cannot supply all values of the format, so some are replaced. The time of the peak is
 * the time of the report. The lifetime of a live object is the median age of the live objects of
 * its site; freed objects count with a lifetime of 0. {@code tuth}, the threshold for short-lived
 * objects, is 0, so only sites without live objects count as short-lived.
 */
final class DhatReport implements Report {

  private static final int FILE_VERSION = 2;
  private static final double MICROSECONDS = 1e6;

  /**
   * The sums over all call sites that have the same stack. The viewer refuses a file in which a
   * stack occurs twice.
   */
  private record Figures(
      long bytes, long objects, long liveBytes, long liveObjects, long lifetimes) {

    static Figures of(CallSite site) {
      return new Figures(
          ReportMetric.ALLOCATED_BYTES.wholeOf(site),
          ReportMetric.ALLOCATED_OBJECTS.wholeOf(site),
          ReportMetric.LIVE_BYTES.wholeOf(site),
          ReportMetric.LIVE_OBJECTS.wholeOf(site),
          Math.round(site.liveObjects().value() * site.ages().median() * MICROSECONDS));
    }

    Figures plus(Figures other) {
      return new Figures(
          bytes + other.bytes,
          objects + other.objects,
          liveBytes + other.liveBytes,
          liveObjects + other.liveObjects,
          lifetimes + other.lifetimes);
    }
  }

  @Override
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    JsonWriter json = JsonWriter.to(writer);
    json.beginObject().name("dhatFileVersion").value(FILE_VERSION);
    json.name("mode").value("mallometer");
    json.name("verb").value("Allocated");
    json.name("bklt").value(true).name("bkacc").value(false);
    json.name("tu").value("µs").name("Mtu").value("s").name("tuth").value(0);
    writeProcess(ProcessHandle.current(), sites.time(), json);
    Numbering<StackFrame> frames = writePoints(sites, json.line());
    json.line().name("ftbl").beginArray().value("[root]");
    for (StackFrame frame : frames.all()) {
      json.line().value(frame.toString());
    }
    json.endArray().endObject();
    writer.write('\n');
    writer.flush();
  }

  /**
   * Writes the process id, the times and the program's name. Its arguments are left out, because
   * they may contain secrets.
   */
  private static void writeProcess(ProcessHandle process, Instant time, JsonWriter json)
      throws IOException {
    json.name("cmd").value(process.info().command().orElse("java"));
    json.name("pid").value(process.pid());
    Instant start = process.info().startInstant().orElse(time);
    // The viewer divides by the age, so the age must not be 0.
    long age = Math.max(1, Duration.between(start, time).toNanos() / 1_000);
    json.name("te").value(age).name("tg").value(age);
  }

  private static Numbering<StackFrame> writePoints(CallSites sites, JsonWriter json)
      throws IOException {
    Map<List<StackFrame>, Figures> points = new LinkedHashMap<>();
    for (CallSite site : sites.sites()) {
      points.merge(Stacks.of(site), Figures.of(site), Figures::plus);
    }
    // The viewer's root frame has the number 0, so other frames begin at 1.
    Numbering<StackFrame> frames = new Numbering<>(1);
    json.name("pps").beginArray();
    for (Map.Entry<List<StackFrame>, Figures> point : points.entrySet()) {
      write(point.getValue(), json.line());
      json.name("fs").beginArray();
      for (StackFrame frame : point.getKey()) {
        json.value(frames.of(frame));
      }
      json.endArray().endObject();
    }
    json.endArray();
    return frames;
  }

  private static void write(Figures figures, JsonWriter json) throws IOException {
    json.beginObject().name("tb").value(figures.bytes()).name("tbk").value(figures.objects());
    json.name("tl").value(figures.lifetimes());
    json.name("mb").value(figures.liveBytes()).name("mbk").value(figures.liveObjects());
    json.name("gb").value(figures.liveBytes()).name("gbk").value(figures.liveObjects());
    json.name("eb").value(figures.liveBytes()).name("ebk").value(figures.liveObjects());
  }
}
