package io.mallometer.internal.diagnosis;

import io.mallometer.model.ClassLoaders;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.HistoryPoint;
import io.mallometer.model.LeakReport;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.SiteTrends;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The input of the diagnosis rules.
 *
 * @param snapshot the latest snapshot
 * @param history the memory at points of the last hour, oldest first
 * @param readings the memory by part at moments of the last hour, oldest first
 * @param sites the live bytes of call sites in the last hour; empty before the first reading
 * @param leaks the latest verdicts
 * @param options the settings of the leak detector
 * @param run this run of the process and the previous one
 * @param latest the diagnosis in force until now
 */
public record DiagnosisInput(
    Snapshot snapshot,
    List<HistoryPoint> history,
    List<AccountReading> readings,
    Optional<SiteTrends> sites,
    LeakReport leaks,
    MallometerOptions options,
    Run run,
    Diagnosis latest) {

  /**
   * This run of the process and the previous one.
   *
   * @param started the time at which the process started
   * @param startedUp the time at which the start-up ended; empty before it
   * @param previous the previous run; empty if none is recorded
   * @param loaders class metadata by loader, read after the number of classes grew; empty before
   */
  public record Run(
      Instant started,
      Optional<Instant> startedUp,
      Optional<PreviousRun> previous,
      Optional<ClassLoaders> loaders) {}

  /**
   * Returns the name of the first part of memory that the latest {@link Diagnosis} names; empty if
   * it names none.
   */
  Optional<String> firstRow() {
    return latest.named().stream().findFirst();
  }
}
