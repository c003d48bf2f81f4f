package io.mallometer.internal.diagnosis;

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
 * All that the rules read.
 *
 * @param snapshot the latest snapshot
 * @param history figures of the last hour, oldest first
 * @param readings the ends of accounts in the last hour, oldest first
 * @param sites what call sites held in the last hour; empty before the first reading
 * @param leaks the latest verdicts
 * @param options how leaks are looked for
 * @param previous the previous run; empty if none is recorded
 * @param started when the process started
 * @param startedUp when the application had started; empty while it starts
 * @param firstRow the row that the latest sentence named first; empty if it named none
 */
public record DiagnosisInput(
    Snapshot snapshot,
    List<HistoryPoint> history,
    List<Reading> readings,
    Optional<SiteTrends> sites,
    LeakReport leaks,
    MallometerOptions options,
    Optional<PreviousRun> previous,
    Instant started,
    Optional<Instant> startedUp,
    Optional<String> firstRow) {}
