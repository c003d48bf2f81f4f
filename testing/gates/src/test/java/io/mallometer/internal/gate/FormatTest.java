package io.mallometer.internal.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

@Tag("any-jdk")
class FormatTest {

  @TempDir private Path directory;

  private Comparison comparison;

  @BeforeEach
  void compare() throws IOException {
    Path before =
        Written.file(
            directory,
            "before.json",
            Written.result("T.a", "native.same", "B", 1000),
            Written.result("T.a", "native.less", "B", 1000),
            Written.result("T.a", "native.more|100%", "B", 1000),
            Written.result("T.a", "native.noisy", "B", 1000, 1000, 1200, 1400),
            Written.result("T.gone<b>\\n::error::&\\u0007", "native.x", "B", 1000));
    Path after =
        Written.file(
            directory,
            "after.json",
            Written.result("T.a", "native.same", "B", 1001),
            Written.result("T.a", "native.less", "B", 500),
            Written.result("T.a", "native.more|100%", "B", 1236),
            Written.result("T.a", "native.noisy", "B", 1250, 1250, 1250, 1250),
            Written.result("T.a", "native.new", "B", 1));
    comparison =
        Comparison.of(
            Results.read(List.of(before), Written.ALL).expected(),
            Results.read(List.of(after), Written.ALL),
            Tolerance.Preset.DEFAULT.tolerance());
  }

  private static final String MORE = "p25: 1236 B, expected 1000, +23.6 % (allowed 50, noise 0)";

  private static final String SUMMARY =
      "12 figures: 3 worse, 2 more but inside the noise band, 3 better, 4 equal; 1 not measured.";

  @Test
  void textListsWhatDiffersAndCountsTheRest() {
    assertThat(Format.of("text").of(comparison))
        .isEqualTo(
            """
            worse  T.a native.more|100%% %s
            worse  T.a native.more|100%% %s
            worse  T.a native.more|100%% %s
            noise  T.a native.noisy p25: 1250 B, expected 1000, +25 %% (allowed 50, noise 300)
            noise  T.a native.noisy p50: 1250 B, expected 1000, +25 %% (allowed 50, noise 300)
            better T.a native.less p25: 500 B, expected 1000, -50 %% (allowed 50, noise 0)
            better T.a native.less p50: 500 B, expected 1000, -50 %% (allowed 50, noise 0)
            better T.a native.less p75: 500 B, expected 1000, -50 %% (allowed 50, noise 0)
            failed T.gone<b>?::error::&? native.x: it was expected and not measured
            new    T.a native.new: not judged
            %s
            If the change is intended, accept it with mallometer thresholds update or baseline save, or with Maven -Dmallometer.update.
            """
                .formatted(MORE, MORE.replace("p25", "p50"), MORE.replace("p25", "p75"), SUMMARY));
  }

  @Test
  void markdownIsATableWhoseCellsHoldAnyName() {
    assertThat(Format.of("markdown").of(comparison).lines())
        .contains(
            "**Native memory: worse**. " + SUMMARY,
            "| worse | T.a | native.more\\|100% | p50 | 1000 B | 1236 B | +23.6 % | 50 | 0 |",
            "- failed: T.gone\\<b\\> ::error::&  native.x: it was expected and not measured",
            "- new, not judged: T.a native.new")
        .filteredOn(line -> line.startsWith("| "))
        .hasSize(9);
  }

  @Test
  void annotationsAreOneForEachMetricAndNoNameAddsACommand() {
    assertThat(Format.of("github").of(comparison))
        .isEqualTo(
            """
            ::notice title=Native memory%3A better::T.a native.less%0A\
            p25: 500 B, expected 1000, -50 %25 (allowed 50, noise 0)%0A\
            p50: 500 B, expected 1000, -50 %25 (allowed 50, noise 0)%0A\
            p75: 500 B, expected 1000, -50 %25 (allowed 50, noise 0)
            ::error title=Native memory%3A worse::T.a native.more|100%25%0A\
            p25: 1236 B, expected 1000, +23.6 %25 (allowed 50, noise 0)%0A\
            p50: 1236 B, expected 1000, +23.6 %25 (allowed 50, noise 0)%0A\
            p75: 1236 B, expected 1000, +23.6 %25 (allowed 50, noise 0)
            ::warning title=Native memory%3A noise::T.a native.noisy%0A\
            p25: 1250 B, expected 1000, +25 %25 (allowed 50, noise 300)%0A\
            p50: 1250 B, expected 1000, +25 %25 (allowed 50, noise 300)
            ::error title=Native memory%3A not measured::T.gone<b>%0A::error::&\u0007 native.x: \
            it was expected and not measured
            ::notice title=Native memory::SUMMARY
            """
                .replace("SUMMARY", SUMMARY));
  }

  @Test
  void jsonHasEveryFigure() {
    JsonObject report = JsonParser.parseString(Format.of("json").of(comparison)).getAsJsonObject();

    assertThat(report.get("outcome").getAsString()).isEqualTo("worse");
    assertThat(report.getAsJsonArray("figures")).hasSize(12);
    assertThat(report.getAsJsonArray("figures").get(3).toString())
        .isEqualTo(
            "{\"name\":\"T.a\",\"metric\":\"native.more|100%\",\"percentile\":\"p25\",\"unit\":\"B\","
                + "\"expected\":1000,\"measured\":1236,\"allowed\":50,\"noise\":0,\"verdict\":\"worse\"}");
    assertThat(report.getAsJsonArray("problems")).hasSize(1);
    assertThat(report.getAsJsonArray("new")).hasSize(1);
  }

  @Test
  void junitHasATestForEachMetric() throws Exception {
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(
                new ByteArrayInputStream(
                    Format.of("junit").of(comparison).getBytes(StandardCharsets.UTF_8)));

    Element suite = (Element) document.getElementsByTagName("testsuite").item(0);
    assertThat(List.of("tests", "failures", "errors", "skipped"))
        .extracting(suite::getAttribute)
        .containsExactly("5", "1", "1", "0");
    assertThat(document.getElementsByTagName("testcase").getLength()).isEqualTo(5);
    assertThat(document.getElementsByTagName("failure").item(0).getTextContent())
        .startsWith(MORE + "\n");
    assertThat(document.getElementsByTagName("error").item(0).getTextContent())
        .startsWith("T.gone<b>\n::error::&? native.x: ");
    assertThat(document.getElementsByTagName("system-out").item(0).getTextContent())
        .startsWith("warning, inside the noise band: p25: 1250 B");
  }

  @Test
  void anotherFormatIsRefusedWithTheList() {
    assertThatThrownBy(() -> Format.of("html"))
        .hasMessage("html is not a format; choose one of text, markdown, json, junit, github");
  }
}
