package io.mallometer.jmx;

import io.mallometer.model.Attachment;
import io.mallometer.model.Baseline;
import org.jspecify.annotations.Nullable;

/**
 * Result of an attach, as composite data.
 *
 * @param complete whether no call is known to be missed
 * @param words pointers to malloc and its relatives that lead to mallometer
 * @param wordsRefused those that the system did not let change, whose calls are not counted
 * @param callsUnseen places from which the program calls malloc past all such pointers
 * @param lockSeconds for how long threads that load libraries had to wait
 * @param driftBytes by how much what glibc has in use exceeds what was counted; 0 until that was
 *     compared
 * @param driftBoundBytes up to which difference is normal: the errors of both readings, and what
 *     glibc and the loader allocate for threads; 0 until that was compared
 * @param baselineBytes what was in use at the attach; null if unknown
 * @param baselineErrorBytes how much more or less that may have been; if it is unknown, the most
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
