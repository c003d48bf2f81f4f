package io.mallometer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ResidentPart;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ResidentSplitTest {

  private static final long MIB = 1 << 20;
  private static final JvmFacts OF_THE_CAPTURE =
      new JvmFacts(
          new JvmRanges(
              List.of(new Range(0xf0000000L, 0x100000000L)),
              List.of(new Range(0x7ff5dd400000L, 0x7ff5ec400000L))),
          OptionalLong.of(1 << 30),
          OptionalLong.of(256 * MIB),
          OptionalLong.of(8192),
          Optional.empty());

  /** Sums of Rss in the text, by hand. */
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
    // Files, and the zeroed data behind libraries.
    assertThat(parts.get(ResidentPart.MAPPED_FILES)).isBetween(32_748 * 1024L, 33_400 * 1024L);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  /** Without VmFlags nothing tells a reservation from a guard: the parts still add up. */
  @Test
  void partsAddUpWithoutFlags() {
    String smaps =
        Captured.text("smaps-linux-6.18-jdk17-g1.txt").replaceAll("(?m)^VmFlags:.*\n", "");

    Map<ResidentPart, Long> parts =
        ResidentSplit.of(Captured.mappings(smaps), OF_THE_CAPTURE, nothingCounted(), noChunks());

    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
    assertThat(parts).containsEntry(ResidentPart.JAVA_HEAP, 3964 * 1024L);
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

  /** What is live and was never touched is not resident. */
  @Test
  void liveIsNeverMoreThanWhatIsResident() {
    Map<ResidentPart, Long> parts = capture(live(100_000 * MIB));

    assertThat(parts)
        .containsEntry(ResidentPart.MALLOC_LIVE, (4292 + 116) * 1024L - 8192)
        .containsEntry(ResidentPart.MALLOC_RETAINED, 0L);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  @Test
  void whatTheJvmItselfTookFromMallocIsTheJvms() {
    Map<ResidentPart, Long> without = capture(live(4 * MIB));
    Map<ResidentPart, Long> with =
        ResidentSplit.of(
            Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt")),
            tracking(new NativeMemoryTracking(MIB, 0)),
            live(4 * MIB),
            noChunks());

    assertThat(with.get(ResidentPart.MALLOC_LIVE))
        .isEqualTo(without.get(ResidentPart.MALLOC_LIVE) - MIB);
    assertThat(with.get(ResidentPart.MALLOC_RETAINED))
        .isEqualTo(without.get(ResidentPart.MALLOC_RETAINED));
    assertThat(total(with)).isEqualTo(48_880 * 1024L);
  }

  /** Tracking says that the JVM has no tables: then they cannot be its own. */
  @Test
  void whatNobodyOwnsIsUnexplained() {
    Map<ResidentPart, Long> parts =
        ResidentSplit.of(
            Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt")),
            tracking(new NativeMemoryTracking(0, 0)),
            nothingCounted(),
            noChunks());

    assertThat(parts.get(ResidentPart.UNEXPLAINED)).isGreaterThan(MIB / 2);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  @Test
  void anotherAllocatorGetsWhatNobodyElseOwns() {
    Map<ResidentPart, Long> parts =
        ResidentSplit.of(
            Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt")),
            tracking(new NativeMemoryTracking(0, 0)),
            new MallocFacts(OptionalLong.empty(), 0, false),
            noChunks());

    assertThat(parts).containsEntry(ResidentPart.UNEXPLAINED, 0L);
    assertThat(total(parts)).isEqualTo(48_880 * 1024L);
  }

  @Test
  void singlyMappedObjectsAreCutOffWhatFollowsThem() {
    long at = 0x7f0000000000L;
    Map<Long, Long> memory = new HashMap<>();
    memory.put(at, 0L);
    memory.put(at + 8, 0x40000L | 2);
    memory.put(at + 0x40000, 0L);
    memory.put(at + 0x40008, 0x21000L | 2);
    List<Mapping> separated =
        new MappedChunks(space(memory), 100)
            .separate(List.of(new Mapping(at, at + MIB, "rw-p", "", MIB, false)));

    assertThat(separated)
        .containsExactly(
            new Mapping(at, at + 0x61000, "rw-p", MappedChunks.NAME, 0x61000, false),
            new Mapping(at + 0x61000, at + MIB, "rw-p", "", MIB - 0x61000, false));
  }

  @Test
  void headersThatLieAreNoObjects() {
    long at = 0x7f0000000000L;
    List<Mapping> mapping = List.of(new Mapping(at, at + MIB, "rw-p", "", MIB, false));
    for (long word :
        new long[] {0, 2, MIB | 3, 2 * MIB | 2, 0x1802, -4096 | 2, Long.MIN_VALUE | 2}) {
      Map<Long, Long> memory = Map.of(at, 0L, at + 8, word);
      assertThat(new MappedChunks(space(memory), 100).separate(mapping)).isEqualTo(mapping);
    }
  }

  @Test
  void zgcsHeapIsKnownByItsName() {
    Map<ResidentPart, Long> parts =
        ResidentSplit.of(
            List.of(
                new Mapping(
                    0x40000000000L, 0x40010000000L, "rw-s", "/memfd:java_heap (deleted)", 9, false),
                new Mapping(0x50000000000L, 0x50010000000L, "rw-s", "/dev/shm/x", 5, false)),
            OF_THE_CAPTURE,
            nothingCounted(),
            noChunks());

    assertThat(parts)
        .containsEntry(ResidentPart.JAVA_HEAP, 9L)
        .containsEntry(ResidentPart.SHARED_MEMORY, 5L);
  }

  /** Two nodes of metaspace that are committed to their ends have become one mapping. */
  @Test
  void fullNodesOfMetaspaceAreOneMapping() {
    long at = 0x7f0010000000L;
    List<Mapping> mappings = new ArrayList<>();
    mappings.add(new Mapping(at, at + 96 * MIB, "rw-p", "", 90 * MIB, false));
    mappings.add(new Mapping(at + 96 * MIB, at + 128 * MIB, "---p", "", 0, true));

    assertThat(ResidentSplit.of(mappings, OF_THE_CAPTURE, nothingCounted(), noChunks()))
        .containsEntry(ResidentPart.METASPACE, 90 * MIB);
  }

  @Test
  void nothingIsMappedNothingIsUnexplained() {
    assertThat(total(ResidentSplit.of(List.of(), OF_THE_CAPTURE, nothingCounted(), noChunks())))
        .isZero();
  }

  private static MallocFacts nothingCounted() {
    return new MallocFacts(OptionalLong.empty(), 0, true);
  }

  private static MallocFacts live(long bytes) {
    return new MallocFacts(OptionalLong.of(bytes), 0, true);
  }

  private static Map<ResidentPart, Long> capture(MallocFacts malloc) {
    return ResidentSplit.of(
        Captured.mappings(Captured.text("smaps-linux-6.18-jdk17-g1.txt")),
        OF_THE_CAPTURE,
        malloc,
        noChunks());
  }

  private static JvmFacts tracking(NativeMemoryTracking tracking) {
    return new JvmFacts(
        OF_THE_CAPTURE.ranges(),
        OF_THE_CAPTURE.classSpaceBytes(),
        OF_THE_CAPTURE.maximumHeapBytes(),
        OF_THE_CAPTURE.directBytes(),
        Optional.of(tracking));
  }

  private static MappedChunks noChunks() {
    return new MappedChunks(AddressSpace.unreadable(), 100);
  }

  private static AddressSpace space(Map<Long, Long> words) {
    return new AddressSpace() {
      @Override
      public OptionalLong word(long address) {
        Long word = words.get(address);
        return word == null ? OptionalLong.empty() : OptionalLong.of(word);
      }

      @Override
      public OptionalLong residentBytes(long start, long end) {
        return OptionalLong.empty();
      }
    };
  }

  private static long total(Map<ResidentPart, Long> parts) {
    return parts.values().stream().mapToLong(Long::longValue).sum();
  }
}
