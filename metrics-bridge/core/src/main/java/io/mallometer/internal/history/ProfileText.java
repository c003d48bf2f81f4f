package io.mallometer.internal.history;

import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/**
 * Call sites in the recording: a gzipped {@link MemoryText}. Each distinct frame is a line, and
 * each site is a line with the numbers of its frames.
 *
 * <p>Contains at most {@value #MOST_SITES} sites. Half of them are the sites with the most live
 * bytes, and the rest are the sites with the most allocated bytes. The number is halved until the
 * text fits.
 */
final class ProfileText {

  static final int MOST_SITES = 1_000;

  /**
   * The most bytes that are decompressed, because a damaged or hostile file must not fill the heap.
   */
  private static final int LONGEST = 16 << 20;

  private static final int SITE_WORDS = 15;
  private static final int FRAME_WORDS = 7;

  private ProfileText() {}

  static byte[] write(CallSites read, int room) throws IOException {
    for (int most = MOST_SITES; most > 0; most /= 2) {
      byte[] zipped = zip(text(read, most).toString());
      if (zipped.length <= room) {
        return zipped;
      }
    }
    return zip(text(read, 0).toString());
  }

  private static byte[] zip(String text) throws IOException {
    ByteArrayOutputStream zipped = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return zipped.toByteArray();
  }

  static Collection<CallSite> sites(CallSites read) {
    return SiteMoment.largest(read, MOST_SITES);
  }

  private static MemoryText text(CallSites read, int most) {
    MemoryText text = new MemoryText();
    Collection<CallSite> sites = SiteMoment.largest(read, most);
    text.line("time", read.time());
    text.line("samples", read.samples());
    text.line("byte-unit", read.byteUnit().tag());
    text.line("all-sites", read.sites().size());
    text.line("mode", read.origin().mode());
    read.origin().since().ifPresent(since -> text.line("since", since));
    text.figure("before-bytes", read.origin().allocatedBeforeBytes());
    Map<StackFrame, Integer> frames = new LinkedHashMap<>();
    for (CallSite site : sites) {
      site.frames().forEach(frame -> frames.putIfAbsent(frame, frames.size()));
    }
    frames.keySet().forEach(frame -> add(text, frame));
    sites.forEach(site -> add(text, site, frames));
    read.buildIds().forEach((library, id) -> text.line("build-id", library, id));
    return text;
  }

  private static void add(MemoryText text, StackFrame frame) {
    text.line(
        "frame",
        frame.kind(),
        frame.owner(),
        frame.name(),
        frame.source(),
        frame.line(),
        frame.offset());
  }

  private static void add(MemoryText text, CallSite site, Map<StackFrame, Integer> frames) {
    StringJoiner stack = new StringJoiner(" ");
    site.frames().forEach(frame -> stack.add(String.valueOf(frames.get(frame))));
    text.line(
        "site",
        site.number(),
        site.name(),
        site.library(),
        site.samples(),
        site.allocatedObjects().value(),
        site.allocatedObjects().variance(),
        site.allocatedBytes().value(),
        site.allocatedBytes().variance(),
        site.liveBytes().samples(),
        site.liveObjects().value(),
        site.liveObjects().variance(),
        site.liveBytes().value(),
        site.liveBytes().variance(),
        stack);
  }

  static CallSites read(byte[] zipped) throws IOException {
    MemoryText text = MemoryText.parse(unzip(zipped));
    List<StackFrame> frames = text.all("frame").stream().map(ProfileText::frame).toList();
    List<CallSite> sites = new ArrayList<>();
    text.all("site").forEach(line -> site(line, frames).ifPresent(sites::add));
    sites.sort((one, other) -> Double.compare(other.liveBytes().value(), one.liveBytes().value()));
    Map<String, String> buildIds = new LinkedHashMap<>();
    text.all("build-id").stream()
        .filter(line -> line.size() > 2)
        .forEach(line -> buildIds.put(line.get(1), line.get(2)));
    try {
      return new CallSites(
          Instant.parse(text.word("time").orElse("")),
          sites,
          text.number("samples").orElse(0),
          Map.of(),
          unit(text.word("byte-unit").orElse("")),
          "",
          new CallSites.Origin(
              text.word("mode").orElse("unknown"),
              text.word("since").map(Instant::parse),
              text.number("before-bytes").orElse(0)),
          buildIds);
    } catch (RuntimeException e) {
      throw new UnreadableRecordingException("the profile is torn: " + e.getMessage());
    }
  }

  private static ByteUnit unit(String tag) {
    return Stream.of(ByteUnit.values())
        .filter(unit -> unit.tag().equals(tag))
        .findFirst()
        .orElse(ByteUnit.UNKNOWN);
  }

  private static String unzip(byte[] zipped) throws IOException {
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(zipped))) {
      return new String(in.readNBytes(LONGEST), StandardCharsets.UTF_8);
    }
  }

  private static StackFrame frame(List<String> line) {
    try {
      if (line.size() >= FRAME_WORDS) {
        return new StackFrame(
            StackFrame.Kind.valueOf(line.get(1)),
            line.get(2),
            line.get(3),
            line.get(4),
            Integer.parseInt(line.get(5)),
            Long.parseLong(line.get(6)));
      }
    } catch (IllegalArgumentException e) {
      // An invalid line yields an unknown frame, because sites refer to frames by the number of the
      // line.
    }
    return StackFrame.ofLibrary("", "", 0);
  }

  private static Optional<CallSite> site(List<String> line, List<StackFrame> frames) {
    try {
      if (line.size() < SITE_WORDS) {
        return Optional.empty();
      }
      long samples = Long.parseLong(line.get(4));
      long liveSamples = Long.parseLong(line.get(9));
      List<StackFrame> stack = new ArrayList<>();
      for (String number : line.get(14).split(" ")) {
        if (!number.isEmpty()) {
          stack.add(frames.get(Integer.parseInt(number)));
        }
      }
      return Optional.of(
          new CallSite(
              Integer.parseInt(line.get(1)),
              stack,
              line.get(2),
              line.get(3),
              samples,
              estimate(line.get(5), line.get(6), samples),
              estimate(line.get(7), line.get(8), samples),
              estimate(line.get(10), line.get(11), liveSamples),
              estimate(line.get(12), line.get(13), liveSamples),
              Double.NaN,
              Double.NaN,
              CallSite.Ages.UNKNOWN));
    } catch (RuntimeException e) {
      return Optional.empty();
    }
  }

  private static Estimate estimate(String value, String variance, long samples) {
    return new Estimate(Double.parseDouble(value), Double.parseDouble(variance), samples);
  }
}
