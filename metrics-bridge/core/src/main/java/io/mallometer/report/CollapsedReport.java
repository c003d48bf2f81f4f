package io.mallometer.report;

import io.mallometer.CallSite;
import io.mallometer.CallSites;
import io.mallometer.StackFrame;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Collapsed stacks: {@code outer;inner 4096}. Frames are functions without lines, so several lines
 * may have the same stack; whoever reads adds them up. Names carry no marks for their kind.
 */
final class CollapsedReport implements Report {

  @Override
  public void write(CallSites sites, ReportMetric metric, OutputStream out) throws IOException {
    Writer lines = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    for (CallSite site : sites.sites()) {
      long figure = metric.wholeOf(site);
      if (figure > 0) {
        write(Stacks.of(site), lines);
        lines.write(' ');
        lines.write(Long.toString(figure));
        lines.write('\n');
      }
    }
    lines.flush();
  }

  private static void write(List<StackFrame> frames, Writer lines) throws IOException {
    for (int i = frames.size() - 1; i >= 0; i--) {
      write(frames.get(i).function(), lines);
      if (i > 0) {
        lines.write(';');
      }
    }
  }

  /** Readers know no escapes, so what separates frames and lines is replaced. */
  private static void write(String name, Writer lines) throws IOException {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      lines.write(c == ';' ? ':' : breaksLines(c) ? ' ' : c);
    }
  }

  private static boolean breaksLines(char c) {
    return Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
  }
}
