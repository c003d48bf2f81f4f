package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentMemory.Mapped;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.SelfReport.SlotPages;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class ResidentSplitTest {

  private static final long MIB = 1 << 20;

  /** The size of {@code [stack]} in the text captured on Linux 6.1, in KiB. */
  private static final long STACK_OF_MAIN = 36;

  private static final List<Mapping> CAPTURE =
      Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt"));

  private static final JvmFacts OF_THE_CAPTURE =
      new JvmFacts(
          new JvmRanges(
              List.of(new Range(0xf0000000L, 0x100000000L)),
              List.of(new Range(0x7ff5dd400000L, 0x7ff5ec400000L))),
          new Metadata(OptionalLong.of(1 << 30), OptionalLong.empty(), OptionalLong.empty()),
          OptionalLong.of(MIB),
          Collector.G1.largestStructures(256 * MIB),
          OptionalLong.of(8192),
          Optional.empty());

  static final JvmFacts NOTHING_KNOWN =
      new JvmFacts(
          new JvmRanges(List.of(), List.of()),
          new Metadata(OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty()),
          OptionalLong.empty(),
          0,
          OptionalLong.empty(),
          Optional.empty());

  /** The expected figures are sums of Rss in the text, added by hand. */
  @Test
  void dividesARealProcess() {
    Map<ResidentPart, Long> parts = capture(nothingCounted());

    assertThat(parts)
        .containsEntry(ResidentPart.JAVA_HEAP, 3964 * 1024L)
        .containsEntry(ResidentPart.CODE_CACHE, 1392 * 1024L)
        .containsEntry(ResidentPart.METASPACE, 2676 * 1024L)
        .containsEntry(ResidentPart.CLASS_SPACE, 360 * 1024L)
        .containsEntry(ResidentPart.THREAD_STACKS, 548 * 1024L)
        .containsEntry(ResidentPart.DIRECT_BUFFERS, 8192L)
        .containsEntry(ResidentPart.MALLOC, (4292 + 116) * 1024L - 8192)
        .doesNotContainKeys(
            ResidentPart.MALLOC_LIVE, ResidentPart.MALLOC_RETAINED, ResidentPart.MALLOMETER);
    // The part includes files and the zeroed data (.bss) behind libraries.
    assertThat(parts.get(ResidentPart.MAPPED_FILES)).isBetween(32_748 * 1024L, 33_400 * 1024L);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  /**
   * The size of the {@code .bss} here exceeds the limit that applies to libraries other than
   * mallometer's.
   */
  @Test
  void theZeroedDataOfTheLibraryIsTheLibrarys() {
    String behind =
        """
        7f0000000000-7f0000001000 rw-p 00000000 08:01 7 /opt/%s
        Rss:                   4 kB
        7f0000001000-7f0000170000 rw-p 00000000 00:00 0
        Rss:                 400 kB
        """;
    List<Mapping> ours = Captured.mappings(behind.formatted("libmallometer.so"));
    List<Mapping> others = Captured.mappings(behind.formatted("libz.so"));

    assertThat(kindBehind(ours)).isEqualTo(MappingKinds.Kind.MALLOMETER);
    assertThat(kindBehind(others)).isEqualTo(MappingKinds.Kind.UNKNOWN);
  }

  private static MappingKinds.Kind kindBehind(List<Mapping> mappings) {
    return new MappingKinds(mappings, NOTHING_KNOWN, 0, new HashMap<>()).of(1);
  }

  /**
   * Linux 6.1 shows a thread's stack and a metaspace node above it as one mapping. Without a page
   * table, the whole stack of 1 MiB counts as resident.
   */
  @Test
  void aStackAndMetaspaceAreToldApart() {
    JvmFacts jvm =
        new JvmFacts(
            new JvmRanges(
                List.of(new Range(0xf0000000L, 0x100000000L)),
                List.of(new Range(0x7efeb8a00000L, 0x7efebba00000L))),
            new Metadata(
                OptionalLong.of(1 << 30), OptionalLong.of(640 << 10), OptionalLong.of(3840 << 10)),
            OptionalLong.of(MIB),
            Collector.SERIAL.largestStructures(256 * MIB),
            OptionalLong.of(8192),
            Optional.empty());

    Map<ResidentPart, Long> parts =
        split(
                Captured.mappings(Captured.text("smaps-linux-6.1-jdk17-serial.txt")),
                jvm,
                nothingCounted())
            .parts();

    assertThat(parts)
        .containsEntry(ResidentPart.JAVA_HEAP, 8192 * 1024L)
        .containsEntry(ResidentPart.CODE_CACHE, 2400 * 1024L)
        .containsEntry(ResidentPart.METASPACE, (3048 - 1024 + 732) * 1024L)
        .containsEntry(ResidentPart.CLASS_SPACE, (188 + 332 + 44) * 1024L)
        .containsEntry(
            ResidentPart.THREAD_STACKS,
            (1024 + 88 * 2 + 8 + 20 + 8 + 32 + 8 * 3 + 88 * 2 + 20 + 116 + STACK_OF_MAIN) * 1024L)
        .containsEntry(ResidentPart.UNEXPLAINED, 0L);
    assertThat(total(parts)).isEqualTo(53_076 * 1024L);
  }

  /**
   * Without VmFlags, reserved memory looks like the guard pages of a stack. The parts must still
   * add up.
   */
  @Test
  void partsAddUpWithoutFlags() {
    String smaps =
        Captured.text("smaps-linux-6.18-jdk17-g1.txt").replaceAll("(?m)^VmFlags:.*\n", "");

    Map<ResidentPart, Long> parts = split(Captured.mappings(smaps)).parts();

    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
    assertThat(parts).containsEntry(ResidentPart.JAVA_HEAP, 3964 * 1024L);
  }

  /**
   * A kernel with {@code vm.overcommit_memory} = 2 ignores {@code MAP_NORESERVE}, so no mapping has
   * the flag {@code nr}.
   */
  @Test
  void partsAreTheSameWhereNoMappingSaysThatItIsReserved() {
    String smaps = Captured.text("smaps-linux-6.18-jdk17-g1.txt");
    MemoryByHand memory = new MemoryByHand();
    for (Mapping mapping : Captured.mappings(smaps)) {
      if (mapping.noReserve() && mapping.writable()) {
        long heap = mapping.start();
        memory.heap(heap, heap + 0x30, 0, mapping.bytes(), mapping.bytes());
      }
    }

    assertThat(
            split(
                    Captured.mappings(smaps.replace(" nr", "")),
                    OF_THE_CAPTURE,
                    nothingCounted(),
                    memory)
                .parts())
        .isEqualTo(capture(nothingCounted()));
  }

  @Test
  void liveBytesDivideMalloc() {
    Map<ResidentPart, Long> parts = capture(live(3 * MIB));

    assertThat(parts)
        .containsEntry(ResidentPart.MALLOC_LIVE, 3 * MIB - 8192)
        .containsEntry(ResidentPart.MALLOC_RETAINED, (4292 + 116) * 1024L - 3 * MIB)
        .doesNotContainKey(ResidentPart.MALLOC);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  /** Live memory that was never touched is not resident. */
  @Test
  void liveIsNeverMoreThanWhatIsResident() {
    Map<ResidentPart, Long> parts = capture(live(100_000 * MIB));

    assertThat(parts)
        .containsEntry(ResidentPart.MALLOC_LIVE, (4292 + 116) * 1024L - 8192)
        .containsEntry(ResidentPart.MALLOC_RETAINED, 0L);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  /**
   * The object has 64 MiB, but only 1 MiB of it is resident. Other live objects have 40 MiB, and 20
   * MiB are retained.
   */
  @Test
  void whatWasNeverTouchedIsNoLiveMemory() {
    long object = 0x7f0000000000L;
    List<Mapping> mappings =
        List.of(
            Mappings.of(0x10000, 0x10000 + 80 * MIB, "rw-p", "[heap]", 60 * MIB, false),
            Mappings.of(object, object + 64 * MIB, "rw-p", "", MIB, false));

    assertThat(divide(mappings, OF_THE_CAPTURE, object))
        .containsEntry(ResidentPart.MALLOC_LIVE, 41 * MIB - 8192)
        .containsEntry(ResidentPart.MALLOC_RETAINED, 20 * MIB);
    assertThat(divide(mappings, tracking(new NativeMemoryTracking(70 * MIB, 0)), object))
        .containsEntry(ResidentPart.GC_AND_JVM, 7 * MIB)
        .containsEntry(ResidentPart.MALLOC_LIVE, 34 * MIB - 8192)
        .containsEntry(ResidentPart.MALLOC_RETAINED, 20 * MIB);
  }

  private static Map<ResidentPart, Long> divide(List<Mapping> mappings, JvmFacts jvm, long object) {
    return split(mappings, jvm, live(104 * MIB), new MemoryByHand().object(object, 64 * MIB))
        .parts();
  }

  @Test
  void whatTheJvmItselfTookFromMallocIsTheJvms() {
    Map<ResidentPart, Long> without = capture(live(4 * MIB));
    Map<ResidentPart, Long> with =
        split(CAPTURE, tracking(new NativeMemoryTracking(MIB, 0)), live(4 * MIB)).parts();

    assertThat(with.get(ResidentPart.MALLOC_LIVE))
        .isEqualTo(without.get(ResidentPart.MALLOC_LIVE) - MIB);
    assertThat(with.get(ResidentPart.MALLOC_RETAINED))
        .isEqualTo(without.get(ResidentPart.MALLOC_RETAINED));
    assertThat(total(with)).isEqualTo(48_880 * 1024L);
  }

  /**
   * Native memory tracking reports 0 bytes of JVM structures. Memory of unknown kind therefore does
   * not count as the JVM's.
   */
  @Test
  void whatNobodyOwnsIsUnexplained() {
    Map<ResidentPart, Long> parts =
        split(CAPTURE, tracking(new NativeMemoryTracking(0, 0)), nothingCounted()).parts();

    assertThat(parts.get(ResidentPart.UNEXPLAINED)).isGreaterThan(MIB / 2);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  @Test
  void whatTheJvmMayOwnIsPresumedToBeItsOwn() {
    List<Mapping> unknown =
        List.of(Mappings.of(4096, 4096 + 64 * MIB, "rw-p", "", 60 * MIB, false));

    ResidentSplit split = split(unknown);

    // The JVM is presumed to own at most 14 MiB of unknown memory: two bitmaps of 4 MiB, four
    // tables of half a MiB, and 4 MiB for other structures.
    assertThat(split.presumedBytes()).isEqualTo(14 * MIB);
    assertThat(split.parts())
        .containsEntry(ResidentPart.GC_AND_JVM, 14 * MIB)
        .containsEntry(ResidentPart.UNEXPLAINED, 46 * MIB);
  }

  /**
   * Memory of unknown kind may be the JVM's tables, but not if the program or its allocator mapped
   * it.
   */
  @Test
  void whatTheProgramMappedIsNotPresumedToBeTheJvms() {
    List<Mapping> unknown =
        List.of(Mappings.of(4096, 4096 + 64 * MIB, "rw-p", "", 64 * MIB, false));
    List<MappedRange> ranges =
        List.of(
            mappedBy("com.shop.Mapper", 4096, 4096 + 8 * MIB),
            mappedBy("com.shop.Mapper", 4096 + 16 * MIB, 4096 + 20 * MIB),
            new MappedRange(
                4096 + 20 * MIB,
                4096 + 30 * MIB,
                List.of(StackFrame.ofLibrary("libjvm.so", "os::commit_memory", 1)),
                "libjvm.so!os::commit_memory",
                MappedRange.Owner.PROGRAM),
            new MappedRange(
                4096 + 30 * MIB, 4096 + 40 * MIB, List.of(), "", MappedRange.Owner.ALLOCATOR),
            mappedBy("com.shop.Pool", 4096 + 63 * MIB, 4096 + 70 * MIB));

    ResidentSplit split = divide(unknown, ranges, true);

    assertThat(split.mapped())
        .containsExactly(
            new Mapped("com.shop.Mapper.map", "Mapper.java:12", 12 * MIB),
            new Mapped("com.shop.Pool.map", "Mapper.java:12", MIB));
    assertThat(split.presumedBytes()).isEqualTo(4 * MIB);
    assertThat(split.parts())
        .containsEntry(ResidentPart.GC_AND_JVM, 14 * MIB)
        .containsEntry(ResidentPart.UNEXPLAINED, 40 * MIB);
    assertThat(total(divide(unknown, ranges, false).parts())).isEqualTo(64 * MIB);
    assertThat(divide(unknown, ranges, false).parts())
        .containsEntry(ResidentPart.UNEXPLAINED, 13 * MIB);
  }

  private static ResidentSplit divide(
      List<Mapping> mappings, List<MappedRange> ranges, boolean glibc) {
    return ResidentSplit.of(
        mappings,
        OF_THE_CAPTURE,
        new MallocFacts(OptionalLong.empty(), 0, 0, SlotPages.NONE, glibc),
        AddressSpace.unreadable(),
        new MappedChunks.Searched(),
        ranges);
  }

  private static MappedRange mappedBy(String type, long start, long end) {
    return new MappedRange(
        start,
        end,
        List.of(
            StackFrame.ofLibrary("libjnidispatch.so", "ffi_call", 1),
            StackFrame.ofJava(type, "map", "Mapper.java", 12)),
        type + ".map",
        MappedRange.Owner.PROGRAM);
  }

  /**
   * The reported 42 MiB are committed memory, which may be untouched. They do not raise the
   * estimate for the JVM's tables above 14 MiB.
   */
  @Test
  void theJvmsAccountMakesItPresumeLessAndNeverMore() {
    assertThat(presumed(new NativeMemoryTracking(0, 42 * MIB))).isEqualTo(14 * MIB);
    assertThat(presumed(new NativeMemoryTracking(0, MIB))).isEqualTo(MIB);
  }

  private static long presumed(NativeMemoryTracking account) {
    return split(
            List.of(Mappings.of(4096, 4096 + 64 * MIB, "rw-p", "", 60 * MIB, false)),
            tracking(account),
            nothingCounted())
        .presumedBytes();
  }

  @Test
  void anotherAllocatorGetsWhatNobodyElseOwns() {
    Map<ResidentPart, Long> parts =
        split(
                CAPTURE,
                tracking(new NativeMemoryTracking(0, 0)),
                new MallocFacts(OptionalLong.empty(), 0, 0, SlotPages.NONE, false))
            .parts();

    assertThat(parts).containsEntry(ResidentPart.UNEXPLAINED, 0L);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  @Test
  void zgcsHeapIsKnownByItsName() {
    Map<ResidentPart, Long> parts =
        split(
                List.of(
                    Mappings.of(
                        0x40000000000L,
                        0x40010000000L,
                        "rw-s",
                        "/memfd:java_heap (deleted)",
                        9,
                        false),
                    Mappings.of(0x50000000000L, 0x50010000000L, "rw-s", "/dev/shm/x", 5, false)))
            .parts();

    assertThat(parts)
        .containsEntry(ResidentPart.JAVA_HEAP, 9L)
        .containsEntry(ResidentPart.SHARED_MEMORY, 5L);
  }

  @Test
  void whatIsThereAndNotResidentIsZeroAndNotUnknown() {
    Map<ResidentPart, Long> parts =
        split(List.of(Mappings.of(0x50000000000L, 0x50010000000L, "rw-s", "/dev/shm/x", 0, false)))
            .parts();

    assertThat(parts)
        .containsEntry(ResidentPart.SHARED_MEMORY, 0L)
        .doesNotContainKey(ResidentPart.MAPPED_FILES);
  }

  @Test
  void aMappingMayBecomeSomethingElseBetweenTwoSplits() {
    MappedChunks.Searched searched = new MappedChunks.Searched();

    assertThat(divideOne("/dev/shm/x", searched)).containsEntry(ResidentPart.SHARED_MEMORY, MIB);
    assertThat(divideOne("/opt/x", searched)).containsEntry(ResidentPart.MAPPED_FILES, MIB);
    assertThat(divideOne("[anon: stack x]", searched))
        .containsEntry(ResidentPart.THREAD_STACKS, MIB);
    assertThat(divideOne("[anon: x_malloc]", searched))
        .containsEntry(ResidentPart.MALLOC, MIB - 8192);
    assertThat(divideOne("/opt/libmallometer.so", searched))
        .containsEntry(ResidentPart.MALLOMETER, MIB);
  }

  private static Map<ResidentPart, Long> divideOne(String name, MappedChunks.Searched searched) {
    return ResidentSplit.of(
            List.of(Mappings.of(0x50000000000L, 0x50000100000L, "rw-p", name, MIB, false)),
            OF_THE_CAPTURE,
            nothingCounted(),
            AddressSpace.unreadable(),
            searched,
            List.of())
        .parts();
  }

  @Test
  void fullNodesOfMetaspaceAreOneMapping() {
    long at = 0x7f0010000000L;
    List<Mapping> mappings = new ArrayList<>();
    mappings.add(Mappings.of(at, at + 96 * MIB, "rw-p", "", 90 * MIB, false));
    mappings.add(Mappings.of(at + 96 * MIB, at + 128 * MIB, "---p", "", 0, true));

    assertThat(split(mappings).parts()).containsEntry(ResidentPart.METASPACE, 90 * MIB);
  }

  /**
   * The mapping is cut where the heap begins. Huge pages are divided in proportion to the resident
   * bytes of the parts.
   */
  @Test
  void partsOfOneMappingShareItsHugePages() {
    long heap = OF_THE_CAPTURE.ranges().heap().get(0).start();
    Mapping mapping =
        new Mapping(
            heap - 48 * MIB,
            heap + 16 * MIB,
            Access.WRITABLE,
            true,
            "",
            64 * MIB,
            false,
            0,
            32 * MIB);

    assertThat(split(List.of(mapping)).hugePages())
        .hasSize(2)
        .contains(new HugePages.Part(ResidentPart.JAVA_HEAP, 8 * MIB))
        .extracting(HugePages.Part::bytes)
        .containsExactly(24 * MIB, 8 * MIB);
  }

  @Test
  void nothingIsMappedNothingIsUnexplained() {
    assertThat(total(split(List.of()).parts())).isZero();
  }

  /** A huge page can split a heap of glibc 2.41 or newer into two mappings. */
  @Test
  void aHeapOfAnArenaIsKnownByItsHeader() {
    long heap = 0x7f0014000000L;
    List<Mapping> mappings =
        List.of(
            Mappings.of(heap, heap + 2 * MIB, "rw-p", "", 2 * MIB, false),
            Mappings.of(heap + 2 * MIB, heap + 40 * MIB, "rw-p", "", 37 * MIB, false),
            Mappings.of(heap + 40 * MIB, heap + 64 * MIB, "---p", "", 0, false));

    assertThat(
            mallocOf(mappings, new MemoryByHand().heap(heap, heap + 0x30, 0, 39 * MIB, 40 * MIB)))
        .isEqualTo(39 * MIB);
  }

  /** The first word of the second heap is the address of an arena that lies in the first heap. */
  @Test
  void laterHeapsOfAnArenaAreKnownByTheHeapBefore() {
    long first = 0x7f0014000000L;
    long second = first + 64 * MIB;
    List<Mapping> mappings =
        List.of(Mappings.of(first, first + 96 * MIB, "rw-p", "", 96 * MIB, false));
    MemoryByHand memory =
        new MemoryByHand()
            .heap(first, first + 0x30, 0, 64 * MIB, 64 * MIB)
            .heap(second, first + 0x30, first, 20 * MIB, 32 * MIB);

    assertThat(mallocOf(mappings, memory)).isEqualTo(96 * MIB);
    assertThat(mallocOf(mappings, memory.heap(second, first + 0x40, first, 20 * MIB, 32 * MIB)))
        .isEqualTo(64 * MIB);
  }

  /**
   * The mapping contains a heap of a glibc arena and other memory. With {@code
   * glibc.malloc.hugetlb=2}, a heap has four huge pages (8 MiB).
   */
  @Test
  void smallerHeapsAreFoundInOneMappingWithOtherMemory() {
    long start = 0x7f0014001000L;
    long heap = 0x7f0014800000L;
    List<Mapping> mappings =
        List.of(Mappings.of(start, start + 90 * MIB, "rw-p", "", 90 * MIB, false));

    assertThat(mallocOf(mappings, new MemoryByHand().heap(heap, heap + 0x30, 0, 8 * MIB, 8 * MIB)))
        .isEqualTo(8 * MIB);
  }

  /**
   * Malloc's heap grows between the reading of the mappings and the reading of the heap's header.
   */
  @Test
  void aHeapMayGrowWhileItIsLookedAt() {
    long heap = 0x7f0014000000L;
    List<Mapping> mappings =
        List.of(
            Mappings.of(heap, heap + 2 * MIB, "rw-p", "", 2 * MIB, false),
            Mappings.of(heap + 2 * MIB, heap + 64 * MIB, "---p", "", 0, false));

    assertThat(mallocOf(mappings, new MemoryByHand().heap(heap, heap + 0x30, 0, 3 * MIB, 3 * MIB)))
        .isEqualTo(2 * MIB);
  }

  /**
   * A header in front of a small object may be a chance value. So a small object counts only if
   * another object adjoins it. With {@code glibc.malloc.mmap_threshold}, glibc maps such small
   * objects.
   */
  @Test
  void smallMappedObjectsAreBelievedInRows() {
    long start = 0x7f0014001000L;
    long bytes = 68 << 10;
    List<Mapping> mappings = List.of(Mappings.of(start, start + MIB, "rw-p", "", MIB, false));
    MemoryByHand memory = new MemoryByHand().object(start + 4096, bytes);

    assertThat(mallocOf(mappings, memory)).isZero();
    memory.object(start + 4096 + bytes, bytes).object(start + 4096 + 2 * bytes, bytes);
    assertThat(mallocOf(mappings, memory)).isEqualTo(3 * bytes);
  }

  /** A word in the JVM's own memory can look like a header by chance. */
  @Test
  void nothingInTheJavaHeapIsTakenForAHeapOfMalloc() {
    long heap = 0xf4000000L;
    List<Mapping> mappings =
        List.of(Mappings.of(0xf0000000L, 0x100000000L, "rw-p", "", 200 * MIB, false));

    assertThat(mallocOf(mappings, new MemoryByHand().heap(heap, heap + 0x30, 0, MIB, MIB)))
        .isZero();
  }

  /**
   * Here glibc could not grow the program break, so it mapped a mebibyte for the main arena, and
   * later another one below the first.
   */
  @Test
  void theMainArenaIsKnownByItsChunks() {
    long start = 0x7f0014003000L;
    long own = start + 4 * MIB;
    MemoryByHand memory = new MemoryByHand();
    memory.chunks(own, own + MIB - 64, 1_008).word(own + MIB - 64 + 8, 33);
    memory.word(own + MIB - 32 + 8, 17).word(own + MIB - 16 + 8, 17);
    memory.chunks(own + MIB, own + 2 * MIB, 48);
    List<Mapping> mappings =
        List.of(Mappings.of(start, start + 60 * MIB, "rw-p", "", 60 * MIB, false));

    assertThat(mallocOf(mappings, memory)).isEqualTo(2 * MIB);
  }

  private static long mallocOf(List<Mapping> mappings, AddressSpace memory) {
    JvmFacts jvm =
        new JvmFacts(
            OF_THE_CAPTURE.ranges(),
            OF_THE_CAPTURE.metadata(),
            OF_THE_CAPTURE.stackBytes(),
            0,
            OptionalLong.empty(),
            Optional.empty());
    return split(mappings, jvm, nothingCounted(), memory).parts().get(ResidentPart.MALLOC);
  }

  /**
   * A slot is one or more pages that hold a single observed object. The slots have 30 MiB resident:
   * 22 MiB of objects and 8 MiB beyond the objects. Another 2 MiB of the objects were never
   * touched.
   */
  @Test
  void anObjectInASlotIsMallocsAndTheRestOfItsPagesTheLibrarys() {
    long slots = 0x10000000;
    List<Mapping> mappings =
        List.of(
            Mappings.of(slots, slots + 20 * MIB, "rw-p", "", 20 * MIB, true),
            Mappings.of(slots + 20 * MIB, slots + 200 * MIB, "---p", "", 0, true),
            Mappings.of(slots + 200 * MIB, slots + 232 * MIB, "rw-p", "", 10 * MIB, true),
            Mappings.of(0x7f0000001000L, 0x7f0004001000L, "rw-p", "[heap]", 40 * MIB, false));
    MallocFacts malloc =
        new MallocFacts(
            OptionalLong.of(34 * MIB),
            8 * MIB,
            0,
            new SlotPages(slots, 300 * MIB, 32 * MIB, 8 * MIB),
            true);

    assertThat(split(mappings, OF_THE_CAPTURE, malloc).parts())
        .containsEntry(ResidentPart.MALLOMETER, 8 * MIB)
        .containsEntry(ResidentPart.MALLOC_LIVE, 32 * MIB - 8192)
        .containsEntry(ResidentPart.MALLOC_RETAINED, 30 * MIB)
        .containsEntry(ResidentPart.UNEXPLAINED, 0L);
  }

  private static MallocFacts nothingCounted() {
    return new MallocFacts(OptionalLong.empty(), 0, 0, SlotPages.NONE, true);
  }

  private static MallocFacts live(long bytes) {
    return new MallocFacts(OptionalLong.of(bytes), 0, 0, SlotPages.NONE, true);
  }

  private static Map<ResidentPart, Long> capture(MallocFacts malloc) {
    return split(CAPTURE, OF_THE_CAPTURE, malloc).parts();
  }

  private static ResidentSplit split(List<Mapping> mappings) {
    return split(mappings, OF_THE_CAPTURE, nothingCounted());
  }

  private static ResidentSplit split(List<Mapping> mappings, JvmFacts jvm, MallocFacts malloc) {
    return split(mappings, jvm, malloc, AddressSpace.unreadable());
  }

  private static ResidentSplit split(
      List<Mapping> mappings, JvmFacts jvm, MallocFacts malloc, AddressSpace memory) {
    return ResidentSplit.of(mappings, jvm, malloc, memory, new MappedChunks.Searched(), List.of());
  }

  private static JvmFacts tracking(NativeMemoryTracking tracking) {
    return new JvmFacts(
        OF_THE_CAPTURE.ranges(),
        OF_THE_CAPTURE.metadata(),
        OF_THE_CAPTURE.stackBytes(),
        OF_THE_CAPTURE.largestStructures(),
        OF_THE_CAPTURE.directBytes(),
        Optional.of(tracking));
  }

  private static long total(Map<ResidentPart, Long> parts) {
    return parts.values().stream().mapToLong(Long::longValue).sum();
  }
}
