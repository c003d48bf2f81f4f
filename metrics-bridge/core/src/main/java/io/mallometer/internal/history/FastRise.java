package io.mallometer.internal.history;

import io.mallometer.internal.symbol.RecordedFrame;
import io.mallometer.internal.symbol.SiteNaming;
import io.mallometer.internal.text.HumanText;
import io.mallometer.model.StackFrame;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The latest fast rise of memory in a recording. The library described the rise repeatedly while it
 * lasted; this is the last description.
 *
 * @param time the time of the description
 * @param monotonicNanos the time of the description by the monotonic clock
 * @param beginNanos the beginning of the rise by the monotonic clock
 * @param beginBytes the charged bytes at the beginning of the rise; without a limit the resident
 *     bytes
 * @param chargedBytes the charged bytes at the time of the description
 * @param limitBytes the limit; {@code NaN} if there is none
 * @param sites the call sites that grew, most growth first; empty if the memory was freed again
 */
record FastRise(
    Instant time,
    long monotonicNanos,
    long beginNanos,
    double beginBytes,
    double chargedBytes,
    double limitBytes,
    List<GrownSite> sites) {

  private static final long LEAST_BYTES = 4 << 20;

  private static final double LEAST_SHARE = 0.25;

  /**
   * A rise can have caused the end of the run only if the library last recorded the rise within
   * this time before the end.
   */
  private static final long LATEST_NANOS = 5_000_000_000L;

  /**
   * A rise is reported as {@code in the last 0.3 s} if less than this time lies between its last
   * record and the end of the run. An earlier rise is reported as, for example, {@code in 0.3 s,
   * 2.0 s before the end}.
   */
  private static final long ENDED_NANOS = 1_000_000_000L;

  /** The most lines that are read. Only a damaged file has more. */
  private static final int MOST_NAMES = 1_000;

  private static final SiteNaming NAMING = new SiteNaming(List.of());

  /**
   * A call site that grew.
   *
   * @param bytes the growth of its live bytes, estimated from samples
   * @param thread the thread with most of its latest samples; empty if unknown
   * @param frames its Java frames, innermost first; the list ends before the first frame without a
   *     name
   */
  record GrownSite(long bytes, String thread, List<StackFrame> frames) {}

  /**
   * The growth of all call sites that have the same name. The frame and the thread are those of the
   * site that grew most.
   */
  private record GrownLine(String name, long bytes, Optional<StackFrame> frame, String thread) {

    GrownLine with(GrownSite site) {
      return new GrownLine(name, bytes + site.bytes(), frame, thread);
    }

    String place() {
      return frame
          .filter(known -> known.kind() == StackFrame.Kind.JAVA && !known.source().isEmpty())
          .map(known -> " (" + known.source() + (known.line() > 0 ? ":" + known.line() : "") + ")")
          .orElse("");
    }
  }

  /**
   * Returns the frames by the 64-bit values that stand for them in the recording. Skips lines that
   * do not describe a frame.
   */
  static Map<Long, StackFrame> names(String text) {
    Map<Long, StackFrame> frames = new HashMap<>();
    for (String line : text.lines().limit(MOST_NAMES).toList()) {
      String[] words = line.split("\t", -1);
      try {
        if (words.length == 5) {
          String name = words[1].replaceFirst("^L", "").replaceFirst(";$", "").replace('/', '.');
          long recorded = Long.parseUnsignedLong(words[0], 16);
          StackFrame frame =
              StackFrame.ofJava(name, words[2], words[3], Integer.parseInt(words[4]));
          frames.put(recorded, RecordedFrame.isCompiled(recorded) ? frame.asCompiled() : frame);
        }
      } catch (NumberFormatException e) {
        // The line describes no frame.
      }
    }
    return frames;
  }

  /** Reads a rise from its record, whose length the caller has checked. */
  static FastRise read(ByteBuffer record, Map<Long, StackFrame> names) {
    ByteBuffer burst =
        record
            .slice(RecordingFormat.FRAME_BYTES, RecordingFormat.BURST_BYTES)
            .order(record.order());
    long limit = burst.getLong(RecordingFormat.BURST_LIMIT_BYTES);
    List<GrownSite> sites = new ArrayList<>();
    int count = burst.getInt(RecordingFormat.BURST_SITES);
    for (int i = 0; i < Math.min(count, RecordingFormat.MOST_SITES); i++) {
      sites.add(site(burst, RecordingFormat.BURST_GROWN + i * RecordingFormat.GROWN_BYTES, names));
    }
    return new FastRise(
        Sample.instant(record.getLong(RecordingFormat.SAMPLE_REALTIME_NS)),
        record.getLong(RecordingFormat.SAMPLE_MONOTONIC_NS),
        burst.getLong(RecordingFormat.BURST_BEGIN_MONOTONIC_NS),
        burst.getLong(RecordingFormat.BURST_BEGIN_BYTES),
        burst.getLong(RecordingFormat.BURST_CHARGED_BYTES),
        limit == RecordingFormat.UNKNOWN ? Double.NaN : limit,
        List.copyOf(sites));
  }

  private static GrownSite site(ByteBuffer burst, int at, Map<Long, StackFrame> names) {
    List<StackFrame> frames = new ArrayList<>();
    int count = burst.getInt(at + RecordingFormat.GROWN_FRAMES);
    for (int i = 0; i < Math.min(count, RecordingFormat.MOST_FRAMES); i++) {
      StackFrame frame =
          names.get(burst.getLong(at + RecordingFormat.GROWN_STACK + i * Long.BYTES));
      if (frame == null) {
        // The list ends before a frame without a name. Otherwise its caller would be blamed for the
        // allocations.
        break;
      }
      frames.add(frame);
    }
    return new GrownSite(
        burst.getLong(at + RecordingFormat.GROWN_LIVE_BYTES),
        RecordingBytes.text(
            burst,
            at + RecordingFormat.GROWN_THREAD_NAME,
            RecordingFormat.GROWN_THREAD_NAME_LENGTH),
        List.copyOf(frames));
  }

  /**
   * Returns the share of the limit that is charged, without {@code fileBytes} of cached files;
   * {@code NaN} without a limit.
   */
  double shareOfLimit(double fileBytes) {
    return Math.max(0, chargedBytes - fileBytes) / limitBytes;
  }

  /**
   * Returns whether the rise lasted until {@code endNanos}: its memory was not freed again, and the
   * library last described it less than 5 s before {@code endNanos}.
   */
  boolean lastedUntil(long endNanos) {
    return !sites.isEmpty() && endNanos - monotonicNanos < LATEST_NANOS;
  }

  /**
   * Returns a phrase about the line of code that allocated most, such as {@code in the last 0.3 s
   * Buffers.grab (Buffers.java:7) allocated 223 MiB on http-8}. Empty if no line allocated at least
   * 4 MiB and a quarter of the rise.
   *
   * @param endNanos the time of the run's last record by the monotonic clock
   */
  Optional<String> sentence(long endNanos) {
    Map<String, GrownLine> lines = new LinkedHashMap<>();
    for (GrownSite site : sites) {
      if (site.frames().isEmpty()) {
        continue;
      }
      String name = NAMING.name(site.frames());
      GrownLine known = lines.get(name);
      lines.put(
          name,
          known != null
              ? known.with(site)
              : new GrownLine(name, site.bytes(), frame(site, name), site.thread()));
    }
    return lines.values().stream()
        .max(Comparator.comparingLong(GrownLine::bytes))
        .filter(line -> line.bytes() >= LEAST_BYTES)
        .filter(line -> line.bytes() >= LEAST_SHARE * (chargedBytes - beginBytes))
        .map(line -> sentence(line, endNanos - monotonicNanos));
  }

  private String sentence(GrownLine line, long sinceNanos) {
    double seconds = Math.max(0.1, (monotonicNanos - beginNanos) / 1e9);
    String when =
        sinceNanos < ENDED_NANOS
            ? "in the last %.1f s".formatted(seconds)
            : "in %.1f s, %.1f s before the end,".formatted(seconds, sinceNanos / 1e9);
    return SiteNaming.printable(
        "%s %s%s allocated %s%s"
            .formatted(
                when,
                HumanText.shortName(line.name()),
                line.place(),
                HumanText.bytes(line.bytes()),
                line.thread().isEmpty() ? "" : " on " + line.thread()));
  }

  private static Optional<StackFrame> frame(GrownSite site, String name) {
    return site.frames().stream()
        .filter(frame -> NAMING.name(List.of(frame)).equals(name))
        .findFirst();
  }
}
