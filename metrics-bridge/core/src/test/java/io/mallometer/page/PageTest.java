package io.mallometer.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.text.InlineText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the HTML of the web page as it is served. Tests of the page in a browser are in {@code
 * samples/leaky-service/e2e/page}.
 */
@Tag("any-jdk")
class PageTest {

  private static final String PAGE = new String(Page.bytes(), StandardCharsets.UTF_8);

  @Test
  void thePolicyAdmitsWhatStandsInThePageAndNothingElse() {
    assertThat(PAGE).contains("content=\"" + Page.policy() + "\"");
    assertThat(Page.policy()).startsWith("default-src 'none'; connect-src 'self';");
    assertThat(Page.policy()).doesNotContain("unsafe", "http", "*", "data:", "blob:");
    List<String> inline = inlineTexts();
    assertThat(inline).hasSize(4);
    for (String text : inline) {
      assertThat(Page.policy()).contains(new InlineText(text).source());
    }
  }

  @Test
  void theDocumentNamesNoOtherResourceAndHasNoHandlersOrStylesInAttributes() {
    String markup = PAGE.replaceAll("(?s)<(script|style)( type[^>]*)?>.*?</\\1>", "");

    assertThat(markup).doesNotContain(" src=", "<link", "http:", "https:", "{{");
    assertThat(markup).doesNotContainPattern(" (on[a-z]+|style)=");
  }

  @Test
  void aTokenIsWrittenSoThatItCannotBecomeMarkup() {
    String page =
        new String(
            Page.bytes(new Page.Token("X-CSRF-TOKEN", "a\"><script>&")), StandardCharsets.UTF_8);

    assertThat(page)
        .contains("<meta name=\"csrf-header\" content=\"X-CSRF-TOKEN\">")
        .contains("<meta name=\"csrf-token\" content=\"a&quot;>&lt;script>&amp;\">");
    assertThat(PAGE).doesNotContain("<meta name=\"csrf");
  }

  @Test
  void everyRunbookIsInThePageWithoutMarkupOfItsOwn() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("../../docs/runbooks"))) {
      assertThat(files.map(file -> file.getFileName().toString().replaceFirst("[.]md$", "")))
          .filteredOn(name -> !name.equals("README"))
          .containsExactlyInAnyOrderElementsOf(Page.RUNBOOKS);
    }
    Matcher blocks =
        Pattern.compile(
                "(?s)<script type=\"text/markdown\" id=\"runbook-([a-z-]+)\">\n# (.*?)</script>")
            .matcher(PAGE);
    assertThat(blocks.results().map(block -> block.group(1)))
        .containsExactlyElementsOf(Page.RUNBOOKS);
    blocks.reset();
    assertThat(blocks.results().map(block -> block.group(2)))
        .allSatisfy(text -> assertThat(text).contains("## What to do").doesNotContain("<!--"));
  }

  @Test
  void uPlotIsThereWithItsVersion() {
    assertThat(PAGE).contains("/*! https://github.com/leeoniya/uPlot (v1.6.32) */");
  }

  private static List<String> inlineTexts() {
    Matcher matcher = Pattern.compile("(?s)<(script|style)>(.*?)</\\1>").matcher(PAGE);
    return Stream.iterate(matcher.find(), found -> found, found -> matcher.find())
        .map(found -> matcher.group(2))
        .toList();
  }
}
