package io.mallometer.report;

import io.mallometer.LeakReport;
import io.mallometer.SiteVerdict;
import io.mallometer.StackFrame;
import java.io.IOException;
import java.util.List;

/** The same as an HTML file without scripts. */
final class LeakPage implements LeakFormat.Writing {

  private static final String HEAD =
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>Leaks of native memory</title>
      <style>
      :root { color-scheme: light dark }
      body { font: 1rem/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 60rem; padding: 0 1rem }
      article { border-left: .3rem solid #888; margin: 1.5rem 0; padding-left: 1rem }
      .leak { border-color: #c62828 }
      .growing { border-color: #b26a00 }
      pre { overflow-x: auto }
      h2 { font-size: 1rem }
      </style>
      </head>
      <body>
      <main>
      """;

  @Override
  public void write(LeakReport leaks, boolean all, Appendable out) throws IOException {
    out.append(HEAD).append("<h1>Leaks of native memory</h1>\n");
    out.append("<p>").append(escaped(LeakText.headline(leaks))).append("</p>\n");
    List<SiteVerdict> shown = all ? leaks.sites() : leaks.suspicious();
    if (shown.isEmpty()) {
      out.append("<p>No call site is thought to leak, to grow or to keep a pool.</p>\n");
    }
    for (SiteVerdict verdict : shown) {
      write(verdict, out);
    }
    out.append("</main>\n</body>\n</html>\n");
  }

  private static void write(SiteVerdict verdict, Appendable out) throws IOException {
    String tag = verdict.verdict().tag();
    out.append("<article class=\"").append(tag).append("\">\n");
    out.append("<h2>").append(tag).append(": ").append(escaped(verdict.site())).append("</h2>\n");
    out.append("<p>").append(escaped(verdict.sentence())).append("</p>\n<ul>\n");
    for (String fact : LeakText.facts(verdict)) {
      out.append("<li>").append(escaped(fact)).append("</li>\n");
    }
    out.append("</ul>\n<pre>");
    for (StackFrame frame : verdict.frames()) {
      out.append(escaped(frame.toString())).append('\n');
    }
    out.append("</pre>\n</article>\n");
  }

  private static String escaped(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
