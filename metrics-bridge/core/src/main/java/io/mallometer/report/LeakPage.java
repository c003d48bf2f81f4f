package io.mallometer.report;

import io.mallometer.model.LeakReport;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import java.io.IOException;
import java.util.List;

/** Writes verdicts as an HTML file without scripts. */
final class LeakPage implements LeakFormat.Writing {

  private static final String HEAD =
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="icon" href="data:,">
      <title>Leaks of native memory</title>
      <style>
      :root { --page: #f4f5f7; --panel: #fff; --text: #1c1c1e; --quiet: #55585f; --line: #d9dbe0;
        --leak: #b3261e; --growing: #8a4b00 }
      @media (prefers-color-scheme: dark) {
        :root { --page: #131417; --panel: #1d1f23; --text: #ececf0; --quiet: #a9adb8; --line: #34373e;
          --leak: #ff5c72; --growing: #f2b366 }
      }
      body { margin: 0 auto; max-width: 64rem; padding: 1rem; background: var(--page); color: var(--text);
        font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
      h1 { margin: 0; font-size: 1.5rem }
      h2 { margin: 0; font-size: 1.05rem }
      h2 span { margin-right: .3rem; padding: .05rem .5rem; border: 1px solid; border-radius: 1rem;
        color: var(--quiet); font-size: .8rem }
      article { margin: 1rem 0; padding: .8rem 1.1rem; border: 1px solid var(--line);
        border-left: .35rem solid var(--quiet); border-radius: 8px; background: var(--panel) }
      .leak { border-left-color: var(--leak) }
      .leak h2 span { color: var(--leak) }
      .growing, .unused { border-left-color: var(--growing) }
      .growing h2 span, .unused h2 span { color: var(--growing) }
      p { margin: .4rem 0 }
      ul { margin: .4rem 0; padding-left: 1.2rem; color: var(--quiet) }
      ol { margin: .4rem 0 0; padding-left: 2rem; font: .82rem/1.5 ui-monospace, monospace }
      </style>
      </head>
      <body>
      <main>
      """;

  @Override
  public void write(LeakReport leaks, boolean all, Appendable out) throws IOException {
    out.append(HEAD).append("<h1>Leaks of native memory</h1>\n");
    out.append("<p>").append(escaped(LeakText.headline(leaks))).append("</p>\n");
    for (String result : LeakText.results(leaks)) {
      out.append("<p>").append(escaped(result)).append("</p>\n");
    }
    List<SiteVerdict> shown = all ? leaks.sites() : leaks.suspicious();
    if (shown.isEmpty()) {
      out.append(
          "<p>No call site has the verdict leak, unused, growing, waits_for_gc or pool.</p>\n");
    }
    for (SiteVerdict verdict : shown) {
      write(verdict, out);
    }
    out.append("</main>\n</body>\n</html>\n");
  }

  private static void write(SiteVerdict verdict, Appendable out) throws IOException {
    String tag = verdict.verdict().tag();
    out.append("<article class=\"").append(tag).append("\">\n");
    out.append("<h2><span>").append(tag).append("</span> ");
    out.append(escaped(verdict.site().name())).append("</h2>\n");
    out.append("<p>").append(escaped(verdict.sentence())).append("</p>\n<ul>\n");
    for (String fact : LeakText.facts(verdict)) {
      out.append("<li>").append(escaped(fact)).append("</li>\n");
    }
    out.append("</ul>\n");
    write(verdict.site().frames(), out);
    for (SiteVerdict.Stack other : verdict.site().others()) {
      out.append("<p>").append(escaped(LeakText.heading(other))).append("</p>\n");
      write(other.frames(), out);
    }
    out.append("</article>\n");
  }

  private static void write(List<StackFrame> frames, Appendable out) throws IOException {
    out.append("<ol aria-label=\"Allocated by, innermost first\">\n");
    for (StackFrame frame : frames) {
      out.append("<li>").append(escaped(frame.toString())).append("</li>\n");
    }
    out.append("</ol>\n");
  }

  private static String escaped(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
