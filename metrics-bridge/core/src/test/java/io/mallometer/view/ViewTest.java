package io.mallometer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Estimate;
import io.mallometer.model.Figure;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.StackFrame;
import io.mallometer.model.State;
import io.mallometer.model.Verdict;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the JSON that is written for the components of a record. */
@Tag("any-jdk")
class ViewTest {

  public record Shown(
      @Figure(value = "Bytes", unit = Figure.Unit.BYTES) double bytes,
      @Figure("Seconds") double seconds,
      @Figure(value = "Bytes at times", unit = Figure.Unit.BYTES) List<Double> history,
      @Figure("A time") Optional<Instant> since,
      @Figure(value = "Always there", always = true) @Nullable String reason,
      @Figure("An estimate") Estimate live,
      @Figure("A frame") StackFrame frame,
      @Figure(value = "Its own components stand here", inline = true) Inner inner,
      String notPublished)
      implements View {}

  public record Inner(
      @Figure("A duration") Duration lasted,
      @Figure("By part") Map<ResidentPart, Long> parts,
      @Figure("Known by its tag") Verdict verdict,
      @Figure("Known by its name") State state,
      @Figure("Nothing of it is known") Nothing nothing) {

    static final Inner KNOWN =
        new Inner(
            Duration.ofMillis(1500),
            Map.of(ResidentPart.METASPACE, 2L, ResidentPart.JAVA_HEAP, 1L),
            Verdict.LEAK,
            State.ACTIVE,
            new Nothing(Double.NaN));
  }

  public record Nothing(@Figure("Unknown") double unknown) {}

  @Test
  void whatIsKnownIsWrittenInItsUnit() {
    assertThat(
            json(
                new Shown(
                    1e15 + 0.5,
                    2,
                    List.of(1.9, Double.NaN),
                    Optional.of(Instant.EPOCH),
                    "none",
                    new Estimate(1.5, 0, 1),
                    StackFrame.ofLibrary("libz.so", "deflate", 16),
                    Inner.KNOWN,
                    "secret")))
        .isEqualTo(
            "{\"bytes\":1000000000000001,\"seconds\":2.0,\"history\":[2,null],"
                + "\"since\":\"1970-01-01T00:00:00Z\",\"reason\":\"none\","
                + "\"live\":{\"value\":2,\"high\":2,\"low\":2},"
                + "\"frame\":\"libz.so!deflate+0x10\",\"lasted\":1.5,"
                + "\"parts\":{\"java_heap\":1,\"metaspace\":2},\"verdict\":\"leak\","
                + "\"state\":\"ACTIVE\"}");
  }

  @Test
  void whatIsUnknownIsLeftOutUnlessItIsAlwaysThere() {
    assertThat(
            json(
                new Shown(
                    Double.NaN,
                    Double.POSITIVE_INFINITY,
                    List.of(),
                    Optional.empty(),
                    null,
                    Estimate.ZERO,
                    StackFrame.ofLibrary("", "", 0),
                    Inner.KNOWN,
                    "secret")))
        .startsWith("{\"history\":[],\"reason\":null,\"live\":{\"value\":0,");
  }

  private static String json(View view) {
    return new String(view.json(), StandardCharsets.UTF_8);
  }
}
