package io.mallometer.page;

import io.mallometer.internal.text.InlineText;
import io.mallometer.report.ReportFormat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page as one HTML document, which contains its styles, its scripts and uPlot. A server
 * therefore needs one URL for it, and its Content Security Policy is a list of hashes. The page can
 * send requests only to its own origin. Its URLs are relative, so it works below a context path, on
 * another port and behind a proxy that adds a prefix.
 *
 * <p>The page also contains the runbooks, for viewers who cannot reach the documentation.
 *
 * <p>The flame graph is a report of its own, which the page requests and shows in a frame. The
 * page's policy also applies inside the frame, so it admits the report's style and script too.
 */
public final class Page {

  /** Media type of the page. */
  public static final String CONTENT_TYPE = "text/html;charset=UTF-8";

  /**
   * The response header with {@link Token#header()}, for servers that cannot put tokens into pages.
   */
  public static final String TOKEN_NAME_HEADER = "X-Mallometer-Token-Name";

  /** The response header with {@link Token#value()}, if the page does not contain it. */
  public static final String TOKEN_HEADER = "X-Mallometer-Token";

  private static final InlineText PLOT_STYLE = InlineText.of(Page.class, "uplot.css");
  private static final InlineText STYLE = InlineText.of(Page.class, "page.css");
  private static final InlineText PLOT = InlineText.of(Page.class, "uplot.js");
  private static final InlineText SCRIPT = InlineText.of(Page.class, "page.js");

  /** The runbooks of the documentation, without README. */
  static final List<String> RUNBOOKS =
      List.of(
          "after-a-kill",
          "huge-allocation",
          "inactive",
          "leak-suspected",
          "near-limit",
          "reaches-limit",
          "retained",
          "since-release",
          "stuck",
          "unexplained");

  /** The text before and after the token, in UTF-8. */
  private static final List<byte[]> AROUND_TOKEN = aroundToken();

  private Page() {}

  /**
   * A token that a server requires in requests that change something, so that no other site can
   * make a browser send them.
   *
   * @param header the header that carries it
   * @param value the token
   */
  public record Token(String header, String value) {}

  /** Returns the Content Security Policy in the page; a server may also send it as a header. */
  public static String policy() {
    return "default-src 'none'; connect-src 'self'; style-src "
        + sources(PLOT_STYLE, STYLE, InlineText.of(ReportFormat.class, "flamegraph.css"))
        + "; script-src "
        + sources(PLOT, SCRIPT, InlineText.of(ReportFormat.class, "flamegraph.js"))
        + "; base-uri 'none'; form-action 'none'";
  }

  /** Returns the page in UTF-8, for servers that require no token. */
  public static byte[] bytes() {
    return bytes("");
  }

  /** Returns the page with a token, which it sends with requests that change something. */
  public static byte[] bytes(Token token) {
    return bytes(meta("csrf-header", token.header()) + meta("csrf-token", token.value()));
  }

  private static byte[] bytes(String head) {
    byte[] before = AROUND_TOKEN.get(0);
    byte[] between = head.getBytes(StandardCharsets.UTF_8);
    byte[] after = AROUND_TOKEN.get(1);
    byte[] page = new byte[before.length + between.length + after.length];
    System.arraycopy(before, 0, page, 0, before.length);
    System.arraycopy(between, 0, page, before.length, between.length);
    System.arraycopy(after, 0, page, before.length + between.length, after.length);
    return page;
  }

  private static List<byte[]> aroundToken() {
    String template = InlineText.of(Page.class, "page.html").text();
    for (String[] part :
        new String[][] {
          {"{{policy}}", policy()},
          {"{{plotstyle}}", PLOT_STYLE.text()},
          {"{{style}}", STYLE.text()},
          {"{{plot}}", PLOT.text()},
          {"{{script}}", SCRIPT.text()},
          {"{{runbooks}}", runbooks()}
        }) {
      template = template.replace(part[0], part[1]);
    }
    return Stream.of(template.split("\\{\\{token}}", 2))
        .map(part -> part.getBytes(StandardCharsets.UTF_8))
        .toList();
  }

  /**
   * Returns the runbooks, without their comments, as blocks of data that the page's script shows.
   */
  private static String runbooks() {
    return RUNBOOKS.stream()
        .map(
            name ->
                "<script type=\"text/markdown\" id=\"runbook-"
                    + name
                    + "\">\n"
                    + InlineText.of(Page.class, name + ".md")
                        .text()
                        .replaceAll("(?s)<!--.*?-->\n", "")
                    + "</script>\n")
        .collect(Collectors.joining());
  }

  private static String sources(InlineText... texts) {
    return Stream.of(texts).map(InlineText::source).collect(Collectors.joining(" "));
  }

  private static String meta(String name, String content) {
    return "<meta name=\"" + name + "\" content=\"" + escaped(content) + "\">\n";
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;");
  }
}
