package io.mallometer.jmx;

import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import org.jspecify.annotations.Nullable;

/**
 * Result of an attach, as composite data.
 *
 * @param complete whether no call is known to be missed
 * @param words pointers to malloc and its relatives that lead to mallometer
 * @param wordsRefused pointers that the system did not let change, whose calls are not counted
 * @param callsUnseen places from which the program calls malloc past all such pointers
 * @param lockSeconds the time that threads that load libraries had to wait
 * @param driftBytes the live bytes that glibc reports less those counted; 0 before the first
 *     comparison
 * @param driftBoundBytes the largest normal difference: the errors of both readings, and the memory
 *     that glibc and the loader allocate for threads; 0 before the first comparison
 * @param baselineBytes the live bytes at the attach; null if unknown
 * @param baselineErrorBytes the error of the baseline; if the baseline is unknown, its maximum
 */
public record AttachmentFigures(
    boolean complete,
    int words,
    int wordsRefused,
    int callsUnseen,
    double lockSeconds,
    long driftBytes,
    long driftBoundBytes,
    @Nullable Long baselineBytes,
    long baselineErrorBytes) {

  static AttachmentFigures of(Attachment attachment, Baseline baseline) {
    return new AttachmentFigures(
        attachment.complete(),
        attachment.words(),
        attachment.wordsRefused(),
        attachment.callsUnseen(),
        attachment.lockSeconds(),
        (long) attachment.driftBytes(),
        (long) attachment.driftBoundBytes(),
        NativeMemory.known(baseline.bytes()),
        (long) baseline.errorBytes());
  }
}
