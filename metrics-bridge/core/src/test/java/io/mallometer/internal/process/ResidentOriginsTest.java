package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SitesByHand;
import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.MappedRange.Owner;
import io.mallometer.internal.process.MappingKinds.Kind;
import io.mallometer.model.CallSite;
import io.mallometer.model.ResidentStacks.ResidentStack;
import io.mallometer.model.SelfReport.SlotPages;
import io.mallometer.model.StackFrame;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ResidentOriginsTest {

  private static final long KIB = 1024;

  private static final String SMAPS =
      """
      100000-200000 rw-p 00000000 00:00 0
      Rss:                1024 kB
      300000-340000 r-xp 00000000 08:01 7 /lib/libz.so
      Rss:                  64 kB
      400000-500000 rw-p 00000000 00:00 0 [heap]
      Rss:                 512 kB
      600000-700000 rw-p 00000000 00:00 0
      Rss:                 256 kB
      """;

  private static final List<StackFrame> STACK =
      List.of(
          StackFrame.ofLibrary("libmap.so", "map_pages", 16),
          StackFrame.ofJava("com.shop.Index", "open", "Index.java", 12));

  private static final List<CallSite> SITES =
      List.of(SitesByHand.site(7, "com.shop.Cart.zip", "libzip.so", 300_000));

  @Test
  void aRangeHasTheStackOfItsCallAndTheRestItsKind() {
    assertThat(
            lines(
                List.of(
                    new MappedRange(
                        0x100000, 0x200000, STACK, "com.shop.Index.open", Owner.PROGRAM),
                    new MappedRange(0x600000, 0x700000, List.of(), "", Owner.PROGRAM)),
                List.of(),
                true,
                false))
        .containsExactly(
            "[mapped];com.shop.Index.open;libmap.so!map_pages " + 1024 * KIB,
            "[malloc];[free or unsampled] " + 512 * KIB,
            "[mapped];[without a call site] " + 256 * KIB,
            "[mapped_files];[libz.so] " + 64 * KIB);
  }

  /**
   * The call site mapped the first 128 KiB of a mapping of 1 MiB. The whole mapping is resident.
   */
  @Test
  void aRangeMayBePartOfAMapping() {
    assertThat(
            lines(
                List.of(
                    new MappedRange(
                        0x100000, 0x120000, STACK, "com.shop.Index.open", Owner.PROGRAM)),
                List.of(),
                true,
                false))
        .contains(
            "[mapped];com.shop.Index.open;libmap.so!map_pages " + 128 * KIB,
            "[unexplained] " + (1024 - 128 + 256) * KIB);
  }

  @Test
  void memoryOfUnknownKindThatTheJvmMappedIsTheJvms() {
    List<StackFrame> reserve =
        List.of(StackFrame.ofLibrary("libjvm.so", "os::pd_reserve_memory", 16), STACK.get(1));

    assertThat(
            lines(
                List.of(
                    new MappedRange(0x100000, 0x200000, reserve, "the JVM", Owner.PROGRAM),
                    new MappedRange(0x600000, 0x700000, STACK, "Index.open", Owner.PROGRAM)),
                List.of(),
                true,
                false))
        .contains(
            "[gc_and_jvm];com.shop.Index.open;libjvm.so!os::pd_reserve_memory " + 1024 * KIB,
            "[mapped];com.shop.Index.open;libmap.so!map_pages " + 256 * KIB);
  }

  @Test
  void mallocsSitesHaveTheirResidentBytes() {
    assertThat(lines(List.of(), SITES, true, false))
        .anyMatch(line -> line.startsWith("[malloc];") && line.endsWith(" 225000"))
        .contains("[malloc];[free or unsampled] " + (512 * KIB - 225_000));
  }

  @Test
  void sitesHaveNoMoreThanTheResidentMemoryOfMalloc() {
    List<CallSite> large =
        List.of(SitesByHand.site(7, "com.shop.Cart.zip", "libzip.so", 9_000_000));

    assertThat(lines(List.of(), large, true, false))
        .anyMatch(line -> line.startsWith("[malloc];") && line.endsWith(" " + 512 * KIB))
        .noneMatch(line -> line.contains("unsampled"));
  }

  /**
   * Slots are pages that hold one sampled object each. Their unused bytes are known only as a sum.
   * The sum must be subtracted once, and not from each mapping of slots.
   */
  @Test
  void theExcessOfSlotsIsTakenOnce() {
    String smaps =
        """
        10000000-10001000 rw-p 00000000 00:00 0
        Rss:                   4 kB
        10001000-10002000 rw-p 00000000 00:00 0
        Rss:                   4 kB
        10002000-10003000 rw-p 00000000 00:00 0
        Rss:                   4 kB
        """;
    SlotPages slots = new SlotPages(0x10000000, 0x10000, 3 * 4096, 5000);

    assertThat(
            ResidentOrigins.of(
                    pieces(smaps, Kind.SLOTS),
                    0,
                    List.of(),
                    new MallocFacts(OptionalLong.empty(), 5000, 0, slots, true),
                    false)
                .stream()
                .map(ResidentOriginsTest::line))
        .containsExactly(
            "[malloc];[free or unsampled] " + (3 * 4096 - 5000), "[mallometer] " + 5000);
  }

  @Test
  void whatAnAllocatorMappedIsMallocs() {
    List<MappedRange> pool =
        List.of(new MappedRange(0x100000, 0x200000, List.of(), "", Owner.ALLOCATOR));

    assertThat(lines(pool, List.of(), false, false))
        .contains("[malloc];[free or unsampled] " + (1024 + 512 + 256) * KIB)
        .noneMatch(line -> line.startsWith("[unexplained]"));
  }

  /**
   * Ranges that the library reports take precedence over its reported footprint, even if the
   * footprint is larger.
   */
  @Test
  void theLibraryTellsItsOwnRanges() {
    List<MappedRange> own =
        List.of(new MappedRange(0x600000, 0x700000, List.of(), "", Owner.LIBRARY));
    MallocFacts facts = new MallocFacts(OptionalLong.empty(), 1024 * KIB, 0, SlotPages.NONE, true);

    assertThat(lines(own, List.of(), facts, false))
        .contains("[mallometer] " + 256 * KIB, "[unexplained] " + 1024 * KIB);
    assertThat(lines(List.of(), List.of(), facts, false))
        .contains("[mallometer] " + 1024 * KIB, "[unexplained] " + 256 * KIB);
  }

  @Test
  void unknownMemoryOfAnAttachedProcessIsFromBefore() {
    assertThat(lines(List.of(), List.of(), true, true))
        .contains("[mapped before counting began] " + (1024 + 256) * KIB);
  }

  @Test
  void stacksOfAnAttachedProcessMayBeOfLaterThreads() {
    String smaps =
        """
        10000000-10001000 rw-p 00000000 00:00 0
        Rss:                   4 kB
        """;
    MallocFacts facts = new MallocFacts(OptionalLong.empty(), 0, 0, SlotPages.NONE, true);

    assertThat(
            ResidentOrigins.of(pieces(smaps, Kind.THREAD_STACK), 0, List.of(), facts, true).stream()
                .map(ResidentOriginsTest::line))
        .containsExactly("[thread_stacks] 4096");
  }

  private static List<Piece> pieces(String smaps, Kind kind) {
    return Captured.mappings(smaps).stream()
        .map(mapping -> new Piece(mapping, kind, Optional.empty()))
        .toList();
  }

  private static List<String> lines(
      List<MappedRange> ranges, List<CallSite> sites, boolean glibc, boolean attached) {
    MallocFacts malloc = new MallocFacts(OptionalLong.empty(), 0, 0, SlotPages.NONE, glibc);
    return lines(ranges, sites, malloc, attached);
  }

  private static List<String> lines(
      List<MappedRange> ranges, List<CallSite> sites, MallocFacts malloc, boolean attached) {
    List<ResidentStack> stacks =
        ResidentSplit.origins(
            Captured.mappings(SMAPS),
            ResidentSplitTest.NOTHING_KNOWN,
            malloc,
            AddressSpace.unreadable(),
            ranges,
            sites,
            attached);
    assertThat(stacks.stream().mapToLong(ResidentStack::bytes).sum())
        .isEqualTo((1024 + 64 + 512 + 256) * KIB);
    return stacks.stream().map(ResidentOriginsTest::line).toList();
  }

  private static String line(ResidentStack stack) {
    StringBuilder line = new StringBuilder();
    for (int i = stack.frames().size() - 1; i >= 0; i--) {
      line.append(stack.frames().get(i).function()).append(i > 0 ? ";" : " ");
    }
    return line.append(stack.bytes()).toString();
  }
}
