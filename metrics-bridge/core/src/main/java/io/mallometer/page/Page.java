package io.mallometer.page;

import io.mallometer.internal.text.InlineText;
import io.mallometer.report.ReportFormat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page as one HTML document with its styles, scripts and runbooks. The page's Content Security
 * Policy lists the hashes of the allowed styles and scripts, and allows requests only to the page's
 * own origin. URLs in the page are relative, so the page works below any path and behind a proxy.
 *
 * <p>The page shows the flame graph, a separate report, in a frame. The browser applies the policy
 * of the page to the frame too, so the policy also lists the style and the script of the flame
 * graph.
 */
public final class Page {

  /** Media type of the page. */
  public static final String CONTENT_TYPE = "text/html;charset=UTF-8";

  /**
   * The name of a response header. Its value is {@link Token#header()}. Servers send it if they
   * cannot insert the token into the page.
   */
  public static final String TOKEN_NAME_HEADER = "X-Mallometer-Token-Name";

  /**
   * The name of a response header. Its value is {@link Token#value()}. Servers send it if they
   * cannot insert the token into the page.
   */
  public static final String TOKEN_HEADER = "X-Mallometer-Token";

  private static final InlineText PLOT_STYLE = InlineText.of(Page.class, "uplot.css");
  private static final InlineText STYLE = InlineText.of(Page.class, "page.css");
  private static final InlineText PLOT = InlineText.of(Page.class, "uplot.js");
  private static final InlineText SCRIPT = InlineText.of(Page.class, "page.js");

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

  /** The two parts of the page in UTF-8, before and after the place where the token is inserted. */
  private static final List<byte[]> AROUND_TOKEN = aroundToken();

  private Page() {}

  /**
   * A token against cross-site request forgery. The server requires it in each request that changes
   * something.
   *
   * @param header the name of the request header that carries the token
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

  /**
   * Returns the page in UTF-8. The page sends the token with each request that changes something.
   */
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
