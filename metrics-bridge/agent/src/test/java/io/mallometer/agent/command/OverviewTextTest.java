package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class OverviewTextTest {

  private static final String BREAKDOWN =
      """
      {"totalBytes": 4096, "parts": {"malloc": 4096}, "hugePages": {"bytes": %d,
       "sentence": "Half of it is in transparent huge pages."}}
      """;

  @Test
  void hugePagesAreShown() {
    assertThat(textOf(BREAKDOWN.formatted(2048)))
        .contains("  Half of it is in transparent huge pages.");
  }

  @Test
  void withoutHugePagesNoLineIsShown() {
    assertThat(textOf(BREAKDOWN.formatted(0))).contains("malloc").doesNotContain("huge");
    assertThat(textOf("{\"totalBytes\": 4096, \"parts\": {\"malloc\": 4096}}"))
        .contains("malloc")
        .doesNotContain("huge");
  }

  @Test
  void aCgroupWithoutALimitIsNamed() {
    assertThat(textOf("{}, \"cgroup\": {\"chargedBytes\": 4096}"))
        .contains("Charged to the cgroup 4.0 KiB, which has no limit\n");
  }

  private static String textOf(String breakdown) {
    return OverviewText.of(
        "simulated",
        "1",
        new Overview(Map.of(Overview.ROOT, "{\"memory\":{\"resident\":" + breakdown + "}}")));
  }
}
