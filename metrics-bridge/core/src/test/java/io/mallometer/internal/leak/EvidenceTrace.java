package io.mallometer.internal.leak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.mallometer.VerdictsByHand;
import io.mallometer.internal.leak.evidence.DurationSketch;
import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.SampledObject;
import io.mallometer.internal.leak.evidence.SiteUse;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Observation;
import io.mallometer.model.StackFrame;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * A file with readings of a real process, from which the leak detector computes verdicts. Tests
 * replay it instead of waiting. It has a line of JSON for each reading, and is gzipped.
 *
 * <pre>{@code
 * NativeLibrary library = new ProcessLibrary();
 * library.observeUse(Duration.ofSeconds(5));
 * try (EvidenceTrace.Recorder recorder = EvidenceTrace.record(Path.of("zlib.jsonl.gz"))) {
 *   // every 15 s:
 *   recorder.add(library.evidence(), library.callSites(Instant.now()), Instant.now());
 * }
 * }</pre>
 *
 * <p>The name and the frames of a site are only in the first line with this site. A replay uses the
 * times of the trace.
 */
public final class EvidenceTrace {

  private static final ObjectMapper JSON = new ObjectMapper();

  private EvidenceTrace() {}

  public static Recorder record(Path file) throws IOException {
    return new Recorder(
        new BufferedWriter(
            new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8)));
  }

  public static final class Recorder implements AutoCloseable {
    private final BufferedWriter out;
    private final Set<Integer> named = new HashSet<>();

    private Recorder(BufferedWriter out) {
      this.out = out;
    }

    public void add(Evidence evidence, CallSites sites, Instant time) throws IOException {
      ObjectNode line = JSON.createObjectNode();
      line.put("time", time.toString()).put("nanos", evidence.nanos());
      write(line.putObject("observation"), evidence.observation());
      ArrayNode objects = line.putArray("objects");
      evidence.objects().forEach(object -> write(objects.addArray(), object));
      ObjectNode uses = line.putObject("uses");
      evidence.sites().forEach((number, use) -> write(uses.putObject("" + number), use));
      ArrayNode all = line.putArray("sites");
      sites.sites().forEach(site -> writeSite(all.addObject(), site));
      out.write(JSON.writeValueAsString(line));
      out.write('\n');
    }

    private void writeSite(ObjectNode json, CallSite site) {
      json.put("number", site.number());
      if (named.add(site.number())) {
        json.put("name", site.name()).put("library", site.library());
        ArrayNode frames = json.putArray("frames");
        site.frames()
            .forEach(
                frame ->
                    frames
                        .addArray()
                        .add(frame.kind().name())
                        .add(frame.owner())
                        .add(frame.name())
                        .add(frame.source())
                        .add(frame.line())
                        .add(frame.offset()));
      }
      write(json.putArray("liveObjects"), site.liveObjects());
      write(json.putArray("liveBytes"), site.liveBytes());
    }

    @Override
    public void close() throws IOException {
      out.close();
    }
  }

  private static void write(ObjectNode json, Observation observation) {
    json.put("state", observation.state().name())
        .put("startedNanos", observation.period().startedNanos())
        .put("epochEndNanos", observation.period().epochEndNanos())
        .put("epochSeconds", observation.period().epochSeconds())
        .put("epochs", observation.period().epochs())
        .put("voidEpochs", observation.period().voidEpochs())
        .put("cpuSeconds", observation.period().cpuSeconds());
  }

  private static void write(ArrayNode json, SampledObject object) {
    json.add(object.site())
        .add(object.bytes())
        .add(object.probability())
        .add(object.placement())
        .add(object.bornNanos())
        .add(object.lastAccessNanos());
  }

  private static void write(ArrayNode json, Estimate estimate) {
    json.add(estimate.value()).add(estimate.variance()).add(estimate.samples());
  }

  private static void write(ObjectNode json, SiteUse use) {
    json.put("placed", use.placed()).put("freed", use.freed());
    write(json.putObject("lifetimes"), use.lifetimes());
    write(json.putObject("idleBeforeFree"), use.idleBeforeFree());
    write(json.putObject("gaps"), use.gaps());
  }

  private static void write(ObjectNode json, DurationSketch durations) {
    json.put("count", durations.count());
    for (int i = 0; i < DurationSketch.BUCKETS; i++) {
      if (durations.weight(i) > 0) {
        json.put("" + i, (float) durations.weight(i));
      }
    }
  }

  /**
   * Lets a leak detector with each of the options judge each line of a trace, and passes the
   * reports on each line to the listener, in the order of the options.
   */
  public static void replay(
      Path file, List<MallometerOptions> options, Consumer<List<LeakReport>> listener) {
    List<LeakDetector> detectors = options.stream().map(LeakDetector::new).toList();
    Map<Integer, CallSite> known = new HashMap<>();
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        JsonNode moment = JSON.readTree(line);
        Instant time = Instant.parse(moment.get("time").textValue());
        Evidence evidence = evidence(moment);
        CallSites sites = sites(moment, time, known);
        LatestAccesses accesses = LatestAccesses.unavailable("a recorded trace");
        listener.accept(
            detectors.stream()
                .map(one -> one.evaluate(evidence, sites, time, accesses, name -> false))
                .toList());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Evidence evidence(JsonNode moment) {
    List<SampledObject> objects = new ArrayList<>();
    for (JsonNode object : moment.get("objects")) {
      objects.add(
          new SampledObject(
              object.get(0).intValue(),
              object.get(1).longValue(),
              object.get(2).doubleValue(),
              object.get(3).doubleValue(),
              object.get(4).longValue(),
              object.get(5).longValue()));
    }
    Map<Integer, SiteUse> uses = new HashMap<>();
    moment
        .get("uses")
        .properties()
        .forEach(use -> uses.put(Integer.parseInt(use.getKey()), siteUse(use.getValue())));
    return new Evidence(
        moment.get("nanos").longValue(), observation(moment.get("observation")), objects, uses);
  }

  private static SiteUse siteUse(JsonNode use) {
    return new SiteUse(
        use.get("placed").longValue(),
        use.get("freed").longValue(),
        durations(use.get("lifetimes")),
        durations(use.get("idleBeforeFree")),
        durations(use.get("gaps")));
  }

  private static DurationSketch durations(JsonNode json) {
    float[] weights = new float[DurationSketch.BUCKETS];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = json.path("" + i).floatValue();
    }
    return new DurationSketch(json.get("count").longValue(), weights);
  }

  private static Observation observation(JsonNode json) {
    return VerdictsByHand.observation(
        Observation.State.valueOf(json.get("state").textValue()),
        new Observation.Period(
            "",
            json.get("startedNanos").longValue(),
            json.get("epochEndNanos").longValue(),
            json.get("epochSeconds").doubleValue(),
            json.get("epochs").longValue(),
            json.get("voidEpochs").longValue(),
            json.get("cpuSeconds").doubleValue()));
  }

  private static CallSites sites(JsonNode moment, Instant time, Map<Integer, CallSite> known) {
    List<CallSite> sites = new ArrayList<>();
    for (JsonNode site : moment.get("sites")) {
      int number = site.get("number").intValue();
      CallSite before = known.get(number);
      CallSite now =
          new CallSite(
              number,
              before == null ? frames(site) : before.frames(),
              before == null ? site.get("name").textValue() : before.name(),
              before == null ? site.get("library").textValue() : before.library(),
              site.get("liveBytes").get(2).longValue(),
              estimate(site.get("liveObjects")),
              estimate(site.get("liveBytes")),
              estimate(site.get("liveObjects")),
              estimate(site.get("liveBytes")),
              Double.NaN,
              Double.NaN,
              CallSite.Ages.UNKNOWN);
      known.put(number, now);
      sites.add(now);
    }
    return new CallSites(time, sites, 0, Map.of(), ByteUnit.UNKNOWN, "");
  }

  private static List<StackFrame> frames(JsonNode site) {
    List<StackFrame> frames = new ArrayList<>();
    for (JsonNode frame : site.get("frames")) {
      frames.add(
          new StackFrame(
              StackFrame.Kind.valueOf(frame.get(0).textValue()),
              frame.get(1).textValue(),
              frame.get(2).textValue(),
              frame.get(3).textValue(),
              frame.get(4).intValue(),
              frame.get(5).longValue()));
    }
    return frames;
  }

  private static Estimate estimate(JsonNode json) {
    return new Estimate(
        json.get(0).doubleValue(), json.get(1).doubleValue(), json.get(2).longValue());
  }
}
