package io.mallometer.view;

import io.mallometer.model.Advice;
import io.mallometer.model.Estimate;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.Snapshot;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answer of {@code nativememory/breakdown}: resident memory by part. Like {@link NativeMemoryView},
 * unknown numbers are {@code NaN}.
 *
 * @param residentBytes the resident set at the latest poll
 * @param time when the parts were split, in ISO 8601; null until they were
 * @param totalBytes the sum of the parts: the resident set at that time
 * @param parts the parts that can be told apart, in the order in which people read them
 * @param presumedJvmBytes what of the part {@code gc-and-jvm} nothing identifies: it counts as the
 *     JVM's because its tables may be as large
 * @param copiedFileBytes what of the part {@code mapped-files} the process wrote: the rest, which
 *     the kernel drops, counts toward no limit
 * @param nativeMemoryTracking whether the JVM's own account helped
 * @param mappings how many mappings were read
 * @param costSeconds processor time that the split took
 * @param hugePages what of it is in transparent huge pages; null where the kernel does not tell
 * @param allocatedBefore what of the part {@code malloc-live} was allocated before an attach, and
 *     is in no call site; null without attach
 */
public record BreakdownView(
    @Whole double residentBytes,
    @Nullable Instant time,
    @Nullable Long totalBytes,
    List<Part> parts,
    @Nullable Long presumedJvmBytes,
    @Nullable Long copiedFileBytes,
    @Nullable Boolean nativeMemoryTracking,
    @Nullable Integer mappings,
    @Nullable Double costSeconds,
    @Nullable Huge hugePages,
    @Nullable AllocatedBefore allocatedBefore)
    implements View {

  /**
   * One part.
   *
   * @param part its name, as in the tag of {@code native.memory.resident}
   * @param bytes resident bytes
   */
  public record Part(String part, long bytes) {}

  /**
   * Transparent huge pages.
   *
   * @param bytes in huge pages
   * @param emptyBytes the part of it in pages of zeros, the most that is resident only because of
   *     huge pages
   * @param sentence the result in one sentence
   * @param parts the same for each part, most first; {@code malloc} is all memory of malloc
   * @param advice what to set so that less is resident; empty if there is little to gain
   */
  public record Huge(
      long bytes,
      Estimate emptyBytes,
      String sentence,
      List<HugePart> parts,
      List<Advice> advice) {}

  /**
   * The huge pages of one part.
   *
   * @param part its name
   * @param bytes in huge pages
   * @param emptyBytes the part of it in pages of zeros
   */
  public record HugePart(String part, long bytes, Estimate emptyBytes) {}

  static BreakdownView of(Snapshot snapshot) {
    double resident = snapshot.memory().residentBytes();
    AllocatedBefore before = AllocatedBefore.of(snapshot);
    return snapshot
        .memory()
        .resident()
        .map(split -> of(resident, split, before))
        .orElseGet(
            () ->
                new BreakdownView(
                    resident, null, null, List.of(), null, null, null, null, null, null, before));
  }

  private static BreakdownView of(
      double resident, ResidentMemory split, @Nullable AllocatedBefore before) {
    return new BreakdownView(
        resident,
        split.time(),
        split.totalBytes(),
        split.bytes().keySet().stream().sorted().map(part -> part(split, part)).toList(),
        split.presumedBytes(),
        split.copiedFileBytes(),
        split.nativeMemoryTracking(),
        split.mappings(),
        split.costSeconds(),
        split.hugePages().map(BreakdownView::huge).orElse(null),
        before);
  }

  private static Huge huge(HugePages huge) {
    return new Huge(
        huge.bytes(),
        huge.emptyBytes(),
        huge.sentence(),
        huge.parts().stream()
            .map(part -> new HugePart(part.part().tag(), part.bytes(), part.emptyBytes()))
            .toList(),
        huge.advice());
  }

  private static Part part(ResidentMemory split, ResidentPart part) {
    return new Part(part.tag(), split.bytes().get(part));
  }
}
