package io.mallometer.report;

import io.mallometer.internal.text.JsonWriter;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes all values of all call sites as JSON, one line for each site. Within one version of the
 * format, fields may be added, but no field is removed, renamed or given another unit.
 */
final class TableReport implements Report {

  private static final int VERSION = 1;

  @Override
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    JsonWriter json = JsonWriter.to(writer);
    json.beginObject().name("version").value(VERSION);
    json.name("time").value(sites.time().toString());
    json.name("byteUnit").value(sites.byteUnit().tag());
    json.name("samples").value(sites.samples());
    json.name("dropped").beginObject();
    // The reasons are sorted, so that equal data make equal files.
    for (Map.Entry<String, Long> reason : new TreeMap<>(sites.dropped()).entrySet()) {
      json.name(reason.getKey()).value(reason.getValue());
    }
    json.endObject().name("reason").value(sites.reason());
    json.name("mode").value(sites.origin().mode());
    json.name("since").value(sites.origin().since().map(Instant::toString).orElse(""));
    if (sites.origin().attached()) {
      json.name("allocatedBeforeBytes").value(sites.origin().allocatedBeforeBytes());
    }
    json.name("sites").beginArray();
    Map<StackFrame, String> frames = new HashMap<>();
    for (CallSite site : sites.sites()) {
      write(site, frames, json.line());
    }
    json.endArray().endObject();
    writer.write('\n');
    writer.flush();
  }

  /**
   * Writes a site.
   *
   * @param texts a cache of the texts of frames. Many sites share the same frames
   */
  private static void write(CallSite site, Map<StackFrame, String> texts, JsonWriter json)
      throws IOException {
    json.beginObject().name("number").value(site.number());
    json.name("name").value(site.name());
    json.name("library").value(site.library());
    json.name("topFrame").value(site.topFrame());
    json.name("samples").value(site.samples());
    write(site.allocatedObjects(), json.name("allocatedObjects"));
    write(site.allocatedBytes(), json.name("allocatedBytes"));
    write(site.liveObjects(), json.name("liveObjects"));
    write(site.liveBytes(), json.name("liveBytes"));
    write(site.residentBytes(), json.name("residentBytes"));
    json.name("bytesPerSecond").value(site.bytesPerSecond());
    json.name("rateSeconds").value(site.rateSeconds());
    write(site.ages(), json.name("ageSeconds"));
    json.name("frames").beginArray();
    for (StackFrame frame : site.frames()) {
      json.value(texts.computeIfAbsent(frame, StackFrame::toString));
    }
    json.endArray().endObject();
  }

  private static void write(Estimate estimate, JsonWriter json) throws IOException {
    json.beginObject().name("value").value(estimate.value());
    json.name("low").value(estimate.low());
    json.name("high").value(estimate.high());
    json.name("samples").value(estimate.samples()).endObject();
  }

  private static void write(CallSite.Ages ages, JsonWriter json) throws IOException {
    json.beginObject().name("median").value(ages.median());
    json.name("ninetyPercent").value(ages.ninetyPercent());
    json.name("oldest").value(ages.oldest()).endObject();
  }
}
