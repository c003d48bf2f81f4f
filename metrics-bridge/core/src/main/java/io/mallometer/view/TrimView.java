package io.mallometer.view;

import io.mallometer.model.TrimReport;
import java.time.Instant;
import java.util.Optional;

/**
 * What a POST to {@code nativememory/trim} answers. Unknown numbers are {@code NaN}, all of them if
 * nothing was trimmed.
 *
 * @param outcome {@code DONE}, {@code REFUSED} or {@code UNSUPPORTED}
 * @param explanation one sentence
 * @param time when it ended, in ISO 8601
 * @param residentBeforeBytes the resident set of the process before
 * @param residentAfterBytes the same after
 * @param returnedBytes by how much it shrank; negative if others took more meanwhile
 * @param tookSeconds how long it took
 * @param nextPossible from when on another trim is not refused as too early, in ISO 8601; empty if
 *     unknown
 */
public record TrimView(
    String outcome,
    String explanation,
    Instant time,
    @Whole double residentBeforeBytes,
    @Whole double residentAfterBytes,
    @Whole double returnedBytes,
    double tookSeconds,
    Optional<Instant> nextPossible)
    implements View {

  static TrimView of(TrimReport report) {
    return new TrimView(
        report.outcome().name(),
        report.explanation(),
        report.time(),
        report.residentBeforeBytes(),
        report.residentAfterBytes(),
        report.returnedBytes(),
        report.seconds(),
        report.nextPossible());
  }
}
