package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.mallometer.RequiredProgram;
import io.mallometer.model.CallSites;
import io.mallometer.model.StackFrame;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("any-jdk")
class DhatReportTest {

  private static final Path VIEWER = Path.of("/usr/libexec/valgrind/dh_view.html");

  @TempDir static Path directory;
  private static Chromium browser;

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  @Test
  @Tag("process")
  void valgrindsViewerShowsTheSites() throws Exception {
    String shown = view(ExampleSites.service());

    assertThat(shown)
        .contains("#0: [root]")
        .contains("Total:     17,918,016 bytes (100%")
        .contains("At t-end:  4,718,656 bytes (100%) in 38 blocks (100%)")
        .contains("At t-end:  3,145,728 bytes (66.67%) in 24 blocks (63.16%)")
        .contains("#1: libzip.so!deflateInit2_+0x1f")
        .contains("#2: java.util.zip.Deflater.init(Deflater.java)")
        .contains("#3: com.example.web.Controller.handle(Controller.java:42)");
  }

  /** The viewer refuses a file that contains a stack twice. */
  @Test
  @Tag("process")
  void sitesWithTheSameStackAreOne() throws Exception {
    String shown =
        view(
            ExampleSites.of(
                ExampleSites.site(1, 2, 64, 1, 32, ExampleSites.ARENA, ExampleSites.MAIN),
                ExampleSites.site(2, 1, 16, 1, 16, ExampleSites.DEFLATE),
                ExampleSites.site(3, 3, 96, 2, 64, ExampleSites.ARENA, ExampleSites.MAIN),
                ExampleSites.site(4, 3, 96, 2, 64, ExampleSites.ARENA),
                ExampleSites.site(5, 1, 1, 1, 1),
                ExampleSites.site(6, 1, 1, 1, 1)));

    assertThat(shown)
        .contains("Total:     160 bytes (")
        .contains("At t-end:  96 bytes (")
        .doesNotContain("repeated location");
  }

  @Test
  @Tag("process")
  void theViewerShowsManySites() throws Exception {
    assertThat(view(ExampleSites.generated(500, 60))).contains("[root]");
  }

  @Test
  void everyMandatoryFieldIsThere() throws Exception {
    JsonNode file = ExampleSites.json(ReportFormat.DHAT, ExampleSites.service());

    assertThat(file.fieldNames())
        .toIterable()
        .contains(
            "dhatFileVersion",
            "mode",
            "verb",
            "bklt",
            "bkacc",
            "tu",
            "Mtu",
            "tuth",
            "cmd",
            "pid",
            "te",
            "tg",
            "pps",
            "ftbl");
    assertThat(file.get("dhatFileVersion").asInt()).isEqualTo(2);
    assertThat(file.get("pps")).hasSize(5);
    JsonNode point = file.get("pps").get(0);
    assertThat(List.of("tb", "tbk", "mb", "mbk", "gb", "gbk", "eb", "ebk"))
        .extracting(field -> point.get(field).asLong())
        .containsExactly(12L << 20, 100L, 3L << 20, 24L, 3L << 20, 24L, 3L << 20, 24L);
    // The field tl is the total lifetime in microseconds. The median age of the live objects is 30
    // s, and there are 24 of them.
    assertThat(point.get("tl").asLong()).isEqualTo(24 * 30 * 1_000_000L);
    assertThat(point.get("fs")).hasSize(4);
  }

  @Test
  void theCommandHasNoArguments() throws Exception {
    JsonNode file = ExampleSites.json(ReportFormat.DHAT, ExampleSites.service());

    assertThat(file.get("cmd").asText()).endsWith("java");
  }

  @Test
  void aFrameIsInTheTableOnce() throws Exception {
    JsonNode file = ExampleSites.json(ReportFormat.DHAT, ExampleSites.service());

    assertThat(file.get("ftbl"))
        .extracting(JsonNode::asText)
        .containsOnlyOnce(
            "[root]",
            ExampleSites.MAIN.toString(),
            StackFrame.ofLibrary("[unknown]", "", 0).toString());
  }

  private static String view(CallSites sites) throws Exception {
    RequiredProgram.at(VIEWER, "valgrind", "REQUIRE_DHAT");
    Chromium.mustBeThere();
    if (browser == null) {
      browser = Chromium.start(Files.createTempDirectory(directory, "browser"));
    }
    Path file = Files.createTempFile(directory, "dhat", ".json");
    Files.write(file, ExampleSites.bytes(ReportFormat.DHAT, sites));
    browser.open(VIEWER.toUri());
    browser.choose("input[type=file]", file);
    browser.await("document.querySelector('.error, .bold') !== null");
    assertThat(browser.evaluate("document.querySelectorAll('.error').length")).isEqualTo("0");
    assertThat(browser.complaints()).isEmpty();
    return browser.evaluate("document.body.innerText");
  }
}
