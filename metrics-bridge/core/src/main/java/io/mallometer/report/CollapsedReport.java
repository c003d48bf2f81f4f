package io.mallometer.report;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.ResidentStacks.ResidentStack;
import io.mallometer.model.StackFrame;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Writes collapsed stacks, one a line: {@code outer;inner 4096}. Frames have no line numbers, so
 * several lines can have the same stack. Readers add them up.
 */
final class CollapsedReport implements Report {

  private static final Pattern LINE_BREAKING = Pattern.compile("[\\p{Cc}\\u2028\\u2029]");

  @Override
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    Writer lines = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    Map<StackFrame, String> names = new HashMap<>();
    for (CallSite site : sites.sites()) {
      write(Stacks.of(site), metric.wholeOf(site), names, lines);
    }
    lines.flush();
  }

  static void write(ResidentStacks resident, OutputStream out) throws IOException {
    Writer lines = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    Map<StackFrame, String> names = new HashMap<>();
    for (ResidentStack stack : resident.stacks()) {
      write(stack.frames(), stack.bytes(), names, lines);
    }
    lines.flush();
  }

  private static void write(
      List<StackFrame> frames, long figure, Map<StackFrame, String> names, Writer lines)
      throws IOException {
    if (figure > 0) {
      write(frames, names, lines);
      lines.write(' ');
      lines.write(Long.toString(figure));
      lines.write('\n');
    }
  }

  private static void write(List<StackFrame> frames, Map<StackFrame, String> names, Writer lines)
      throws IOException {
    for (int i = frames.size() - 1; i >= 0; i--) {
      lines.write(names.computeIfAbsent(frames.get(i), CollapsedReport::name));
      if (i > 0) {
        lines.write(';');
      }
    }
  }

  /**
   * Returns the name of a frame without the format's separators, which cannot be escaped:
   * semicolons become colons, control characters and line breaks become spaces.
   */
  private static String name(StackFrame frame) {
    return LINE_BREAKING.matcher(frame.function().replace(';', ':')).replaceAll(" ");
  }
}
