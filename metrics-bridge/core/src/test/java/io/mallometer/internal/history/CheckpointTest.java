package io.mallometer.internal.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.SimulatedCheckpoints;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.time.Instant;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests mallometer in a JVM with CRaC's interface for checkpoints. */
@Tag("process")
@Tag("any-jdk")
class CheckpointTest {

  private static final Pattern RESTORED = Pattern.compile("restored: (\\S+)");

  @TempDir private Path directory;

  @Test
  void javasPartOfTheRecordingIsContinuedAfterACheckpointWithNothingOpenMeanwhile()
      throws Exception {
    Path recording = directory.resolve("a.recording");
    ChildJvm.Result result =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory.resolve("library")))
            .environment("MALLOMETER_RECORDING", recording.toString())
            .options(SimulatedCheckpoints.option(directory.resolve("crac")))
            .run(CheckpointedProgram.class);

    assertThat(result.output())
        .containsPattern("open before: \\[.*mem, pagemap.*]")
        .containsPattern("open meanwhile: \\[(socket:\\S+)?]")
        .containsPattern("open after: \\[.*mem, pagemap.*]")
        .contains("polled meanwhile: false", "polled after: true")
        .containsOnlyOnce("mallometer cannot prepare for a checkpoint")
        .containsOnlyOnce("mallometer cannot go on after a checkpoint")
        .doesNotContain("recording is off");
    assertThat(result.exitCode()).isZero();
    Instant restored =
        RESTORED
            .matcher(result.output())
            .results()
            .map((MatchResult match) -> Instant.parse(match.group(1)))
            .findFirst()
            .orElseThrow();
    RecordedLife life = RecordedLife.read(recording);
    assertThat(life.samples().get(0).time()).isBefore(restored);
    assertThat(life.last().time()).isAfter(restored);
    assertThat(life.end().shutdown()).hasValueSatisfying(end -> assertThat(end).isAfter(restored));
    assertThat(life.damage().tornRecords()).isZero();
    assertThat(Path.of(recording + ".previous")).doesNotExist();
  }
}
