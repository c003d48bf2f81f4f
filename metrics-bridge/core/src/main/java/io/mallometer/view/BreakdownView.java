package io.mallometer.view;

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
 * @param time the time of the split, in ISO 8601; null before the first split
 * @param totalBytes the sum of the parts: the resident set at that time
 * @param parts the parts, in the order in which people read them
 * @param presumedJvmBytes the bytes of the part {@code gc_and_jvm} that nothing identifies: they
 *     count as the JVM's because its tables may be as large
 * @param copiedFileBytes the bytes of the part {@code mapped_files} that the process wrote; the
 *     rest counts toward no limit, because the kernel can drop it
 * @param nativeMemoryTracking whether the split used the JVM's native memory tracking
 * @param mappings the number of mappings that were read
 * @param costSeconds CPU time that the split took
 * @param hugePages resident memory in transparent huge pages; null if the kernel does not tell
 * @param allocatedBefore the bytes of the part {@code malloc_live} that were allocated before an
 *     attach and belong to no call site; null without attach
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
   * @param sentence the result in one sentence
   * @param parts the same for each part, most first; {@code malloc} is all memory of malloc
   */
  public record Huge(long bytes, String sentence, List<HugePart> parts) {}

  /**
   * The huge pages of one part.
   *
   * @param part its name
   * @param bytes in huge pages
   */
  public record HugePart(String part, long bytes) {}

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
        huge.sentence(),
        huge.parts().stream().map(part -> new HugePart(part.part().tag(), part.bytes())).toList());
  }

  private static Part part(ResidentMemory split, ResidentPart part) {
    return new Part(part.tag(), split.bytes().get(part));
  }
}
