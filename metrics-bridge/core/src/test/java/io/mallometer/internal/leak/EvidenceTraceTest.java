package io.mallometer.internal.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a replay gives the same verdicts as the process at the time of the recording. */
@Tag("any-jdk")
class EvidenceTraceTest {

  private static final double TEN_MINUTES = 600;

  @TempDir private Path directory;

  @Test
  void aTraceIsJudgedAsItsProcessWas() throws Exception {
    SimulatedProcess process = new SimulatedProcess(3, 0.05, 1 << 20);
    for (SimulatedKind kind : SimulatedKinds.ALL.subList(0, 9)) {
      process.add(kind, "Kind.n" + SimulatedKinds.ALL.indexOf(kind));
    }
    LeakDetector detector = new LeakDetector(MallometerOptions.defaults());
    List<List<SiteVerdict>> judged = new ArrayList<>();
    Path file = directory.resolve("trace.jsonl.gz");
    try (EvidenceTrace.Recorder recorder = EvidenceTrace.record(file)) {
      while (process.seconds() < TEN_MINUTES) {
        process.passEpoch();
        Evidence evidence = process.evidence();
        recorder.add(evidence, process.callSites(), process.time());
        judged.add(
            detector
                .evaluate(
                    evidence,
                    process.callSites(),
                    process.time(),
                    LatestAccesses.unavailable("a recorded trace"),
                    name -> false)
                .sites());
      }
    }

    List<List<SiteVerdict>> replayed = new ArrayList<>();
    EvidenceTrace.replay(
        file,
        List.of(MallometerOptions.defaults()),
        reports -> replayed.add(reports.get(0).sites()));

    assertThat(replayed).isEqualTo(judged);
    assertThat(replayed.get(replayed.size() - 1))
        .extracting(SiteVerdict::verdict)
        .contains(Verdict.UNUSED);
  }
}
