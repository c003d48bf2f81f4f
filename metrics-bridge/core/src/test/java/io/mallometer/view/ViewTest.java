package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Estimate;
import io.mallometer.model.StackFrame;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How the components of a view stand in JSON. */
@Tag("any-jdk")
class ViewTest {

  public record Figures(
      @Whole double bytes,
      double seconds,
      @Whole List<Double> history,
      Optional<Instant> since,
      @View.Always @Nullable String reason,
      Estimate live,
      StackFrame frame)
      implements View {}

  @Test
  void whatIsKnownIsWrittenInItsUnit() {
    assertThat(
            json(
                new Figures(
                    1e15 + 0.5,
                    2,
                    List.of(1.9, Double.NaN),
                    Optional.of(Instant.EPOCH),
                    "none",
                    new Estimate(1.5, 0, 1),
                    StackFrame.ofLibrary("libz.so", "deflate", 16))))
        .isEqualTo(
            "{\"bytes\":1000000000000001,\"seconds\":2.0,\"history\":[2,null],"
                + "\"since\":\"1970-01-01T00:00:00Z\",\"reason\":\"none\","
                + "\"live\":{\"value\":2,\"high\":2,\"low\":2},"
                + "\"frame\":\"libz.so!deflate+0x10\"}");
  }

  @Test
  void whatIsUnknownIsLeftOutUnlessItIsAlwaysThere() {
    assertThat(
            json(
                new Figures(
                    Double.NaN,
                    Double.POSITIVE_INFINITY,
                    List.of(),
                    Optional.empty(),
                    null,
                    Estimate.ZERO,
                    StackFrame.ofLibrary("", "", 0))))
        .startsWith("{\"history\":[],\"reason\":null,\"live\":{\"value\":0,");
  }

  private static String json(View view) {
    return new String(view.json(), StandardCharsets.UTF_8);
  }
}
