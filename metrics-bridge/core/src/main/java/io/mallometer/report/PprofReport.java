package io.mallometer.report;

import io.mallometer.internal.text.ProtobufMessage;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.SiteChange;
import io.mallometer.model.SiteChanges;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a gzipped profile in the format of pprof's {@code profile.proto}. The samples are written
 * first, while the writer collects the distinct frames and names. The frames and names follow.
 */
final class PprofReport implements Report {

  /** The values of a sample, in the order of Go's own heap profiles. */
  private enum SampleType {
    ALLOC_OBJECTS("alloc_objects", "count", ReportMetric.ALLOCATED_OBJECTS),
    ALLOC_SPACE("alloc_space", "bytes", ReportMetric.ALLOCATED_BYTES),
    INUSE_OBJECTS("inuse_objects", "count", ReportMetric.LIVE_OBJECTS),
    INUSE_SPACE("inuse_space", "bytes", ReportMetric.LIVE_BYTES);

    private final String type;
    private final String unit;
    private final ReportMetric metric;

    SampleType(String type, String unit, ReportMetric metric) {
      this.type = type;
      this.unit = unit;
      this.metric = metric;
    }

    static SampleType of(ReportMetric metric) {
      for (SampleType type : values()) {
        if (type.metric == metric) {
          return type;
        }
      }
      throw new IllegalArgumentException(metric.id());
    }
  }

  @Override
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    List<String> comments = new ArrayList<>();
    comments.add(
        "Estimated from " + sites.samples() + " samples; bytes: " + sites.byteUnit().tag());
    if (!sites.origin().sentence().isEmpty()) {
      comments.add(sites.origin().sentence());
    }
    try (Gzip zipped = new Gzip(out)) {
      Profile profile = new Profile(zipped, sites.buildIds());
      profile.begin(sites.time(), Duration.ZERO, SampleType.of(metric), comments);
      for (CallSite site : sites.sites()) {
        profile.add(site, values(type -> type.metric.wholeOf(site)));
      }
      profile.end();
    }
    out.flush();
  }

  private static long[] values(ToLongFunction<SampleType> value) {
    return Stream.of(SampleType.values()).mapToLong(value).toArray();
  }

  /**
   * Writes the changes between two moments. A change that is unknown counts as 0.
   *
   * @param now a reading of call sites, from which the unit of bytes and the build ids are taken
   * @throws IllegalArgumentException if nothing is known about the moments
   */
  static void write(SiteChanges changes, CallSites now, ReportMetric metric, OutputStream out)
      throws IOException {
    Instant from = changes.from().orElseThrow(() -> unknown(changes));
    Instant to = changes.to().orElseThrow(() -> unknown(changes));
    List<String> comments = new ArrayList<>();
    comments.add("Changes since %s, estimated; bytes: %s".formatted(from, now.byteUnit().tag()));
    if (!changes.reason().isEmpty()) {
      comments.add(changes.reason());
    }
    try (Gzip zipped = new Gzip(out)) {
      Profile profile = new Profile(zipped, now.buildIds());
      profile.begin(to, Duration.between(from, to), SampleType.of(metric), comments);
      for (SiteChange change : changes.changes()) {
        profile.add(change.frames(), change.name(), change.library(), values(change));
      }
      profile.end();
    }
    out.flush();
  }

  static void write(CallSites before, CallSites now, OutputStream out) throws IOException {
    Map<Integer, CallSite> earlier = new HashMap<>();
    before.sites().forEach(site -> earlier.put(site.number(), site));
    try (Gzip zipped = new Gzip(out)) {
      Profile profile = new Profile(zipped, now.buildIds());
      profile.begin(
          now.time(),
          Duration.between(before.time(), now.time()),
          SampleType.INUSE_SPACE,
          List.of("Allocated since " + before.time() + "; bytes: " + now.byteUnit().tag()));
      for (CallSite site : now.sites()) {
        profile.add(site, values(type -> since(earlier.get(site.number()), site, type)));
      }
      profile.end();
    }
    out.flush();
  }

  private static long since(@Nullable CallSite before, CallSite now, SampleType type) {
    long value = type.metric.wholeOf(now);
    boolean isSum = type == SampleType.ALLOC_OBJECTS || type == SampleType.ALLOC_SPACE;
    return isSum && before != null ? Math.max(0, value - type.metric.wholeOf(before)) : value;
  }

  private static IllegalArgumentException unknown(SiteChanges changes) {
    return new IllegalArgumentException(changes.reason());
  }

  private static long[] values(SiteChange change) {
    return values(
        type ->
            Math.round(
                switch (type) {
                  case ALLOC_OBJECTS -> change.allocatedObjects();
                  case ALLOC_SPACE -> change.allocatedBytes();
                  case INUSE_OBJECTS -> change.liveObjectsGrowth();
                  case INUSE_SPACE -> change.liveBytesGrowth();
                }));
  }

  /**
   * A stream whose close() frees the native memory of the compressor, but leaves the underlying
   * stream open.
   */
  private static final class Gzip extends GZIPOutputStream {

    private static final int BUFFER_BYTES = 16 * 1024;

    Gzip(OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
    }

    @Override
    public void close() throws IOException {
      try {
        finish();
      } finally {
        def.end();
      }
    }
  }

  private record Function(String name, String file) {}

  /** Writes the message {@code Profile}, with the field numbers of {@code profile.proto}. */
  private static final class Profile {

    private final OutputStream out;
    private final ProtobufMessage profile = new ProtobufMessage();
    private final Numbering<String> strings = new Numbering<>(0);
    private final Numbering<String> libraries = new Numbering<>(1);
    private final Numbering<Function> functions = new Numbering<>(1);
    private final Numbering<StackFrame> locations = new Numbering<>(1);

    private final Map<String, String> buildIds;

    Profile(OutputStream out, Map<String, String> buildIds) {
      this.out = out;
      this.buildIds = buildIds;
      strings.of("");
      // pprof shows the name of the first mapping as the file of the profile.
      libraries.of("java");
    }

    void begin(Instant time, Duration duration, SampleType defaultType, List<String> comments) {
      for (SampleType type : SampleType.values()) {
        profile.message(1, pair(type.type, type.unit));
      }
      profile.number(9, nanoseconds(time));
      profile.number(10, duration.toNanos());
      // Writes the period type of Go's heap profiles, because profile databases recognize heap
      // profiles by this type. The sampling period itself is not written, because the values are
      // already scaled to all allocations.
      profile.message(11, pair("space", "bytes"));
      profile.number(14, strings.of(defaultType.type));
      profile.numbers(13, comments.stream().mapToLong(strings::of).toArray());
    }

    void end() throws IOException {
      writeLocations();
      writeFunctions();
      writeMappings();
      for (String string : strings.all()) {
        profile.text(6, string).moveTo(out);
      }
    }

    private ProtobufMessage pair(String first, String second) {
      return new ProtobufMessage().number(1, strings.of(first)).number(2, strings.of(second));
    }

    void add(CallSite site, long[] values) throws IOException {
      add(site.frames(), site.name(), site.library(), values);
    }

    void add(List<StackFrame> frames, String name, String library, long[] values)
        throws IOException {
      if (LongStream.of(values).allMatch(value -> value == 0)) {
        return;
      }
      ProtobufMessage sample = new ProtobufMessage();
      sample.numbers(1, Stacks.of(frames).stream().mapToLong(locations::of).toArray());
      sample.numbers(2, values);
      sample.message(3, pair("site", name));
      if (!library.isEmpty()) {
        sample.message(3, pair("library", library));
      }
      profile.message(2, sample).moveTo(out);
    }

    private void writeLocations() throws IOException {
      for (StackFrame frame : locations.all()) {
        ProtobufMessage line = new ProtobufMessage();
        line.number(1, functions.of(new Function(frame.function(), frame.source())));
        line.number(2, frame.line());
        ProtobufMessage location = new ProtobufMessage().number(1, locations.of(frame));
        if (frame.kind() == StackFrame.Kind.NATIVE && !frame.owner().isEmpty()) {
          location.number(2, libraries.of(frame.owner()));
        }
        // The address is written only for a frame without a symbol. In a frame with a symbol, the
        // offset is relative to the symbol and is no address.
        location.number(3, frame.name().isEmpty() ? frame.offset() : 0);
        profile.message(4, location.message(4, line)).moveTo(out);
      }
    }

    private void writeFunctions() throws IOException {
      for (Function function : functions.all()) {
        ProtobufMessage message = new ProtobufMessage().number(1, functions.of(function));
        message.number(2, strings.of(function.name())).number(4, strings.of(function.file()));
        profile.message(5, message).moveTo(out);
      }
    }

    /**
     * Writes a mapping for each library, marked as symbolized so that pprof does not search for the
     * file.
     */
    private void writeMappings() throws IOException {
      for (String library : libraries.all()) {
        ProtobufMessage mapping = new ProtobufMessage().number(1, libraries.of(library));
        mapping.number(5, strings.of(library));
        mapping.number(6, strings.of(buildIds.getOrDefault(library, ""))).number(7, 1);
        profile.message(3, mapping).moveTo(out);
      }
    }

    private static long nanoseconds(Instant time) {
      return TimeUnit.SECONDS.toNanos(time.getEpochSecond()) + time.getNano();
    }
  }
}
