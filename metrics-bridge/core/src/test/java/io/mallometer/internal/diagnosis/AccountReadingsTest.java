package io.mallometer.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.FaceContract;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.model.PageCache;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class AccountReadingsTest {

  private static final long SECOND = 1_000_000_000L;

  private final AccountReadings readings = new AccountReadings(() -> ProcessCounts.NONE);

  @Test
  void aReadingIsMadeOfEachDivisionOfTheResidentSetAndOfNothingElse() {
    Snapshot first = snapshot(60);
    readings.add(first, 0);
    readings.add(first, 20 * SECOND);
    readings.add(snapshot(75), 30 * SECOND);

    assertThat(readings.all()).hasSize(2);
    assertThat(readings.all().get(1).resident().bytes()).isEqualTo(400 * Situation.MIB);
  }

  @Test
  void anAttachBeginsAnew() {
    readings.add(snapshot(60), 0);
    Situation attached = new Situation(Duration.ofSeconds(75), second -> 400);
    attached.self = FaceContract.attachedReport();
    readings.add(attached.input().snapshot(), 20 * SECOND);

    assertThat(readings.all()).hasSize(1);
  }

  /**
   * A mapped file counts with the pages that this process has mapped. Its other pages may have been
   * in the page cache since an earlier run.
   */
  @Test
  void aMappedFileCountsByItsMappedPagesAndAnotherByItsCachedOnes() {
    long mib = 1 << 20;
    PageCache cached =
        new PageCache(
            List.of(
                new PageCache.CachedFile("/db/data.mdb", "other", 300 * mib, false),
                new PageCache.CachedFile("/log/app.log", "log", 70 * mib, true)),
            370 * mib,
            Map.of(),
            0,
            "");

    AccountReading.PagesOfFiles files =
        AccountReading.files(Map.of("/db/data.mdb", 40 * mib, "/lib/a.so", 1_024L), cached);

    assertThat(files.largest())
        .containsOnly(
            Map.entry("/db/data.mdb", 40 * mib), Map.entry("/log/app.log (deleted)", 70 * mib));
    assertThat(files.together())
        .containsOnly(
            Map.entry("deleted files", 70 * mib),
            Map.entry("files of other kinds", 40 * mib),
            Map.entry("library files", 1_024L));
    assertThat(files.deleted()).isEqualTo(1);
  }

  private static Snapshot snapshot(long second) {
    return new Situation(Duration.ofSeconds(second), at -> 400).input().snapshot();
  }
}
