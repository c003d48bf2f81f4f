package io.mallometer.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

final class ExampleSites {

  static final Instant TIME = Instant.parse("2026-11-21T18:00:00Z");
  static final CallSite.Ages AGES = new CallSite.Ages(30, 120.5, 600);

  static final StackFrame MAIN = java("com.example.Main", "main", 10);
  static final StackFrame HANDLE = java("com.example.web.Controller", "handle", 42);
  static final StackFrame DEFLATER = java("java.util.zip.Deflater", "init", 0);
  static final StackFrame DEFLATE = StackFrame.ofLibrary("libzip.so", "deflateInit2_", 0x1f);
  static final StackFrame ARENA = StackFrame.ofLibrary("libjvm.so", "Arena::grow", 0x80);

  private ExampleSites() {}

  static StackFrame java(String className, String method, int line) {
    String source = className.substring(className.lastIndexOf('.') + 1) + ".java";
    return StackFrame.ofJava(className, method, source, line);
  }

  /** Returns a site with exact figures; frames are innermost first. */
  static CallSite site(
      int number,
      long allocatedObjects,
      long allocatedBytes,
      long liveObjects,
      long liveBytes,
      StackFrame... frames) {
    return new CallSite(
        number,
        Arrays.asList(frames),
        frames.length == 0 ? "[unknown]" : frames[frames.length / 2].function(),
        frames.length == 0 ? "" : frames[0].owner(),
        allocatedObjects,
        exact(allocatedObjects),
        exact(allocatedBytes),
        exact(liveObjects),
        exact(liveBytes),
        1024.5,
        60,
        liveObjects > 0 ? AGES : CallSite.Ages.UNKNOWN);
  }

  private static Estimate exact(long value) {
    return new Estimate(value, 0, value);
  }

  static CallSites of(CallSite... sites) {
    return new CallSites(
        TIME, List.of(sites), 1234, Map.of("no_site", 5L), ByteUnit.GLIBC_CHUNK, "");
  }

  /**
   * Returns five call sites with 3 MiB, 1 MiB, 512 KiB, 0 and 64 live bytes. The last site has no
   * frames.
   */
  static CallSites service() {
    return of(
        site(1, 100, 12 << 20, 24, 3 << 20, DEFLATE, DEFLATER, HANDLE, MAIN),
        site(2, 40, 4 << 20, 10, 1 << 20, ARENA, java("com.example.Cache", "load", 7), MAIN),
        site(3, 7, 1 << 20, 3, 512 << 10, ARENA),
        site(4, 900, 90 << 10, 0, 0, java("com.example.Buffers", "take", 3), HANDLE, MAIN),
        site(5, 1, 64, 1, 64));
  }

  /**
   * Returns {@code count} call sites whose stacks of {@code depth} frames share their outer frames.
   */
  static CallSites generated(int count, int depth) {
    SplittableRandom random = new SplittableRandom(1);
    List<StackFrame> functions = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      functions.add(
          i % 3 == 0
              ? StackFrame.ofLibrary("libexample" + i % 20 + ".so", "symbol_" + i, i)
              : java("com.example.package" + i % 50 + ".Class" + i, "method" + i, i % 900 + 1));
    }
    CallSite[] sites = new CallSite[count];
    for (int n = 0; n < count; n++) {
      StackFrame[] frames = new StackFrame[depth];
      int differs = depth / 2 + random.nextInt(depth / 2);
      for (int i = 0; i < depth; i++) {
        int fromOutermost = depth - 1 - i;
        frames[i] =
            functions.get(fromOutermost < differs ? fromOutermost * 7 : random.nextInt(5_000));
      }
      long objects = 1 + random.nextInt(1_000);
      sites[n] = site(n, 2 * objects, 200 * objects, objects, 100 * objects, frames);
    }
    return of(sites);
  }

  static byte[] bytes(ReportFormat format, CallSites sites) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    format.write(sites, ReportMetric.LIVE_BYTES, out);
    return out.toByteArray();
  }

  static JsonNode json(ReportFormat format, CallSites sites) throws IOException {
    return new ObjectMapper().readTree(bytes(format, sites));
  }

  static String text(ReportFormat format, CallSites sites) throws IOException {
    return new String(bytes(format, sites), StandardCharsets.UTF_8);
  }
}
