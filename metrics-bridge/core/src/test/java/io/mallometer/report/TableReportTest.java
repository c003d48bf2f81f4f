package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.mallometer.model.ByteUnit;
import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class TableReportTest {

  /** Build pipelines read version 1 of the format, so the expected file must not change. */
  @Test
  void versionOneIsWhatTheFileSays() throws Exception {
    CallSite estimated =
        new CallSite(
            17,
            List.of(ExampleSites.DEFLATE, ExampleSites.DEFLATER, ExampleSites.HANDLE),
            "com.example.web.Controller.handle",
            "libzip.so",
            12,
            new Estimate(1000.25, 100, 12),
            new Estimate(12_345_678_901.5, 0, 12),
            new Estimate(24, 16, 4),
            new Estimate(3 << 20, 4e10, 4),
            0.0001,
            3600,
            ExampleSites.AGES);
    CallSite unknown =
        new CallSite(
            18,
            List.of(),
            "[unknown]",
            "",
            0,
            Estimate.ZERO,
            Estimate.ZERO,
            new Estimate(Double.NaN, Double.NaN, 0),
            new Estimate(Double.NaN, Double.NaN, 0),
            Double.NaN,
            Double.NaN,
            CallSite.Ages.UNKNOWN);
    CallSites sites =
        new CallSites(
            ExampleSites.TIME,
            List.of(estimated, unknown),
            12,
            Map.of("not_followed", 2L, "no_site", 5L),
            ByteUnit.USABLE,
            "no Java frames: \"java\" is off");

    assertThat(ExampleSites.text(ReportFormat.TABLE, sites)).isEqualTo(resource("table-1.json"));
  }

  @Test
  void oddNamesStayWhatTheyAre() throws Exception {
    String name = "a\"b\\c\nd\t\u0001é😀</script>\ud800";
    JsonNode table =
        ExampleSites.json(
            ReportFormat.TABLE,
            ExampleSites.of(
                ExampleSites.site(1, 1, 8, 1, 8, StackFrame.ofJava("Odd", name, "", 0))));

    assertThat(table.at("/sites/0/frames/0").asText()).isEqualTo("Odd." + name);
  }

  @Test
  void noSitesAreAnEmptyListWithTheReason() throws Exception {
    JsonNode table =
        ExampleSites.json(ReportFormat.TABLE, CallSites.none(ExampleSites.TIME, "stacks are off"));

    assertThat(table.get("sites")).isEmpty();
    assertThat(table.get("reason").asText()).isEqualTo("stacks are off");
    assertThat(table.get("byteUnit").asText()).isEqualTo("unknown");
  }

  private static String resource(String name) throws Exception {
    try (InputStream in = TableReportTest.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
