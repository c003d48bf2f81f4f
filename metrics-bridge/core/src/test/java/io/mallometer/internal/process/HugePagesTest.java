package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.mallometer.model.Advice;
import io.mallometer.model.Estimate;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class HugePagesTest {

  private static final long MIB = 1 << 20;
  private static final long BLOCK = 2 * MIB;
  private static final long AT = 0x7f0000000000L;

  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int HUGE = 14;
  private static final int NOT_HUGE = 15;

  private static final Status NO_STATUS = new Status(State.UNAVAILABLE, "", "");

  private final NativeLibrary c = NativeLibrary.getInstance("c");

  // ---- A real process

  /** The truth is what the same accesses make resident without huge pages. */
  @Test
  void emptyIsWhatTheSameAccessesDoNotMakeResidentWithoutHugePages() throws IOException {
    long small = mapped(128 * MIB, NOT_HUGE);
    long large = mapped(128 * MIB, HUGE);
    for (long offset = 0; offset < 128 * MIB; offset += BLOCK) {
      // 100 of 512 pages.
      for (int page = 0; page < 100; page++) {
        new Pointer(small + offset + page * AddressSpace.PAGE).setByte(9, (byte) 1);
        new Pointer(large + offset + page * AddressSpace.PAGE).setByte(9, (byte) 1);
      }
    }
    Mapping without = mappingAt(small);
    Mapping with = mappingAt(large);
    Assumptions.assumeTrue(with.hugeBytes() >= 64 * MIB, "the kernel gave no huge pages");
    long truth = with.residentBytes() - without.residentBytes();

    HugePages.Part part = look(with);

    assertThat(part.bytes()).isEqualTo(with.hugeBytes());
    assertThat(part.emptyBytes().low()).isLessThan(truth);
    assertThat(part.emptyBytes().high()).isGreaterThan(truth);
    assertThat(part.emptyBytes().value()).isCloseTo(truth, within(0.12 * truth));
  }

  @Test
  void lookingMakesNothingResident() throws IOException {
    long large = mapped(64 * MIB, HUGE);
    new Pointer(large + 8 * MIB).setByte(0, (byte) 1);
    Mapping before = mappingAt(large);
    Assumptions.assumeTrue(before.hugeBytes() == BLOCK, "the kernel gave no huge page");

    look(before);

    assertThat(mappingAt(large).residentBytes()).isEqualTo(before.residentBytes());
  }

  /** Also where the kernel has none: then there are no bytes in them. */
  @Test
  void aReadingOfThisProcessTellsItsHugePages() {
    long large = mapped(64 * MIB, HUGE);
    for (long offset = 0; offset < 64 * MIB; offset += BLOCK) {
      new Pointer(large + offset).setByte(0, (byte) 1);
    }
    boolean has = Files.exists(Path.of("/sys/kernel/mm/transparent_hugepage"));

    HugePages found =
        new ProcessMemorySource(new ProcessFiles(), System::nanoTime, System::nanoTime)
            .read(() -> Snapshot.absent(Instant.EPOCH, NO_STATUS), OptionalLong.empty())
            .resident()
            .orElseThrow()
            .hugePages()
            .orElseThrow();

    assertThat(found.sentence()).contains("transparent huge pages");
    if (!has) {
      assertThat(found.bytes()).isZero();
    } else if (mappingAt(large).hugeBytes() == 64 * MIB) {
      assertThat(found.bytes()).isGreaterThanOrEqualTo(64 * MIB);
      assertThat(found.emptyBytes().high()).isGreaterThan(60 * MIB);
    }
  }

  private HugePages.Part look(Mapping mapping) throws IOException {
    try (OwnMemory memory = new OwnMemory()) {
      return new EmptyHugePages(
              memory, address -> ResidentPart.MALLOC, HugePageSettings.pageBytes(), new Random(1))
          .of(List.of(mapping))
          .get(0);
    }
  }

  /** Unmapped with the process. A page that nobody may use keeps it apart from its neighbours. */
  private long mapped(long bytes, int advice) {
    long raw =
        c.getFunction("mmap")
            .invokeLong(
                new Object[] {Pointer.NULL, bytes + 2 * BLOCK, 0, PRIVATE_ANONYMOUS, -1, 0L});
    long start = (raw + BLOCK) / BLOCK * BLOCK;
    assertThat(
            c.getFunction("mprotect")
                .invokeInt(new Object[] {new Pointer(start), bytes, READ_WRITE}))
        .isZero();
    c.getFunction("madvise").invokeInt(new Object[] {new Pointer(start), bytes, advice});
    return start;
  }

  private static Mapping mappingAt(long address) {
    List<Mapping> all = new ProcessFiles().mappings().orElseThrow();
    return all.get(Pieces.at(address, all));
  }

  // ---- By hand

  @Test
  void partsOfOneMappingShareItsHugePages() {
    Mapping mapping = mapping(0, 64, 64, 64);

    List<HugePages.Part> parts =
        new EmptyHugePages(
                new Zeros(page -> page >= AT + 48 * MIB),
                address -> address < AT + 32 * MIB ? ResidentPart.MALLOC : ResidentPart.JAVA_HEAP,
                BLOCK,
                new Random(1))
            .of(List.of(mapping));

    assertThat(parts).hasSize(2);
    Map<ResidentPart, HugePages.Part> by =
        Map.of(parts.get(0).part(), parts.get(0), parts.get(1).part(), parts.get(1));
    assertThat(by.get(ResidentPart.MALLOC).bytes()).isCloseTo(32 * MIB, within(4 * MIB));
    assertThat(by.get(ResidentPart.MALLOC).emptyBytes().value()).isZero();
    assertThat(by.get(ResidentPart.MALLOC).emptyBytes().high()).isGreaterThan(0);
    assertThat(by.get(ResidentPart.JAVA_HEAP).emptyBytes().value())
        .isCloseTo(16.0 * MIB, within(4.0 * MIB));
  }

  /** Half of what is resident is small pages with contents: zeros are those of huge pages. */
  @Test
  void zerosAreThoseOfHugePagesWhereSmallOnesAreWholeBlocks() {
    Mapping mapping = mapping(0, 64, 64, 32);

    HugePages.Part part =
        new EmptyHugePages(
                new Zeros(page -> page < AT + 16 * MIB),
                address -> ResidentPart.MALLOC,
                BLOCK,
                new Random(1))
            .of(List.of(mapping))
            .get(0);

    assertThat(part.emptyBytes().value()).isCloseTo(16.0 * MIB, within(4.0 * MIB));
    assertThat(part.emptyBytes().high()).isLessThanOrEqualTo(32 * MIB);
  }

  /** 4 MiB of huge pages in 16 GiB, all resident: too many blocks to list, and few draws. */
  @Test
  void noPartIsEmptierThanItHasHugePages() {
    HugePages.Part part =
        new EmptyHugePages(
                new Zeros(page -> true), address -> ResidentPart.MALLOC, BLOCK, new Random(1))
            .of(List.of(mapping(0, 16 << 10, 16 << 10, 4)))
            .get(0);

    assertThat(part.bytes()).isEqualTo(4 * MIB);
    assertThat(part.emptyBytes().value()).isEqualTo(4.0 * MIB);
    assertThat(part.emptyBytes().high()).isEqualTo(4.0 * MIB);
  }

  @Test
  void memoryThatCannotBeReadIsUnknownAndNotEmpty() {
    HugePages found =
        HugePageAdvice.of(
            new EmptyHugePages(
                    AddressSpace.unreadable(), address -> ResidentPart.MALLOC, BLOCK, new Random(1))
                .of(List.of(mapping(0, 64, 64, 64))),
            100 * MIB,
            Double.NaN,
            HugePageSettings.NONE);

    assertThat(found.bytes()).isEqualTo(64 * MIB);
    assertThat(found.emptyBytes().value()).isNaN();
    assertThat(found.sentence()).endsWith("not known, because memory cannot be read.");
    assertThat(found.advice()).isEmpty();
  }

  /** 40,000 mappings with one huge page each, of which every other is empty. */
  @Test
  void howManyMappingsThereAreDoesNotChangeTheCost() {
    List<Mapping> mappings = new ArrayList<>();
    for (int i = 0; i < 40_000; i++) {
      mappings.add(mapping(4L * i, 2, 2, 2));
    }
    AtomicInteger reads = new AtomicInteger();

    HugePages.Part part =
        new EmptyHugePages(
                new Zeros(
                    page -> {
                      reads.incrementAndGet();
                      return (page - AT) / (4 * MIB) % 2 == 0;
                    }),
                address -> ResidentPart.THREAD_STACKS,
                BLOCK,
                new Random(1))
            .of(mappings)
            .get(0);

    assertThat(reads.get())
        .isLessThanOrEqualTo(
            EmptyHugePages.DRAWS + EmptyHugePages.MOST_ALONE * EmptyHugePages.FEWEST_DRAWS);
    assertThat(part.bytes()).isCloseTo(80_000 * MIB, within(MIB));
    assertThat(part.emptyBytes().value()).isCloseTo(40_000.0 * MIB, within(4_000.0 * MIB));
    assertThat(part.emptyBytes().low()).isBetween(32_000.0 * MIB, 40_000.0 * MIB);
  }

  /** All that was drawn went away since: memory can be read, and anything may be empty. */
  @Test
  void hugePagesThatNoDrawMetAreAnythingFromNoneToAll() {
    HugePages.Part part =
        new EmptyHugePages(
                new AddressSpace() {
                  @Override
                  public OptionalLong word(long address) {
                    return OptionalLong.empty();
                  }

                  @Override
                  public Optional<BitSet> residentPages(long start, long end) {
                    return Optional.of(new BitSet());
                  }
                },
                address -> ResidentPart.MALLOC,
                BLOCK,
                new Random(1))
            .of(List.of(mapping(0, 64, 64, 64)))
            .get(0);

    assertThat(part.emptyBytes().value()).isEqualTo(32.0 * MIB);
    assertThat(part.emptyBytes().high()).isEqualTo(64.0 * MIB);
  }

  /** Huge pages of 512 MiB are those of a kernel with pages of 64 KiB. */
  @Test
  void pagesOfAnotherSizeAreNotReadAndNotEmpty() {
    HugePages.Part part =
        new EmptyHugePages(
                new Zeros(
                    page -> {
                      throw new AssertionError("looked at");
                    }),
                address -> ResidentPart.MALLOC,
                512 * MIB,
                new Random(1))
            .of(List.of(mapping(0, 1024, 1024, 1024)))
            .get(0);

    assertThat(part.bytes()).isEqualTo(1024 * MIB);
    assertThat(part.emptyBytes().value()).isNaN();
  }

  @Test
  void mappingsWithoutHugePagesAreNotLookedAt() {
    assertThat(
            new EmptyHugePages(
                    new Zeros(
                        page -> {
                          throw new AssertionError("looked at");
                        }),
                    address -> ResidentPart.MALLOC,
                    BLOCK,
                    new Random(1))
                .of(List.of(mapping(0, 64, 64, 0), mapping(64, 64, 64, -1))))
        .isEmpty();
  }

  // ---- Advice

  @Test
  void adviceNamesWhoAsksForThem() {
    List<HugePages.Part> parts =
        List.of(
            part(ResidentPart.JAVA_HEAP, 200),
            part(ResidentPart.MALLOC, 100),
            part(ResidentPart.THREAD_STACKS, 90));

    assertThat(settings(parts, new HugePageSettings(true, false, false, false)))
        .containsExactly(
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled on the host, or"
                + " prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) in the process that starts the JVM");
    assertThat(settings(parts, new HugePageSettings(false, true, true, false)))
        .startsWith("GLIBC_TUNABLES without glibc.malloc.hugetlb", "-XX:-UseTransparentHugePages")
        .hasSize(3);
    assertThat(settings(parts.subList(1, 2), new HugePageSettings(false, false, false, true)))
        .containsExactly("thp:never in place of thp:always in MALLOC_CONF");
    assertThat(settings(parts.subList(0, 1), HugePageSettings.NONE))
        .containsExactly(
            "prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) in the process that starts the JVM");
  }

  /** Without its request the JVM or glibc would still get them from the kernel. */
  @Test
  void whereTheKernelMakesThemAnywayItsSettingHasToChangeToo() {
    List<HugePages.Part> parts =
        List.of(part(ResidentPart.JAVA_HEAP, 200), part(ResidentPart.MALLOC, 100));

    assertThat(settings(parts, new HugePageSettings(true, true, true, false)))
        .hasSize(2)
        .allMatch(setting -> setting.contains(", together with echo madvise > /sys/"));
    assertThat(settings(parts.subList(1, 2), new HugePageSettings(true, false, false, true)))
        .containsExactly("thp:never in place of thp:always in MALLOC_CONF");
  }

  @Test
  void littleIsNoReasonForAdvice() {
    assertThat(settings(List.of(part(ResidentPart.JAVA_HEAP, 31)), HugePageSettings.NONE))
        .isEmpty();
    assertThat(
            HugePageAdvice.of(
                    List.of(part(ResidentPart.JAVA_HEAP, 100)),
                    200 * MIB,
                    4096 * MIB,
                    HugePageSettings.NONE)
                .advice())
        .isEmpty();
  }

  @Test
  void whoAsksIsReadFromTheSettings() {
    assertThat(HugePageSettings.of("[always] madvise never\n", false, Map.of()).always()).isTrue();
    assertThat(HugePageSettings.of("always [madvise] never\n", false, Map.of()).always()).isFalse();
    assertThat(HugePageSettings.of("", true, Map.of()))
        .isEqualTo(new HugePageSettings(false, true, false, false));
    assertThat(
            HugePageSettings.of("", false, Map.of("GLIBC_TUNABLES", "a=0:glibc.malloc.hugetlb=1"))
                .byGlibc())
        .isTrue();
    // A number of bytes: pages of hugetlbfs.
    assertThat(
            HugePageSettings.of(
                    "", false, Map.of("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1073741824"))
                .byGlibc())
        .isFalse();
    assertThat(
            HugePageSettings.of("", false, Map.of("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0"))
                .byGlibc())
        .isFalse();
    assertThat(HugePageSettings.of("", false, Map.of("MALLOC_CONF", "a:b,thp:always")).byJemalloc())
        .isTrue();
  }

  private static List<String> settings(List<HugePages.Part> parts, HugePageSettings settings) {
    return HugePageAdvice.of(parts, 1000 * MIB, Double.NaN, settings).advice().stream()
        .map(Advice::setting)
        .toList();
  }

  private static HugePages.Part part(ResidentPart part, long emptyMib) {
    return new HugePages.Part(part, 2 * emptyMib * MIB, new Estimate(emptyMib * MIB, 1e9, 50));
  }

  private static Mapping mapping(long fromMib, long mib, long residentMib, long hugeMib) {
    return new Mapping(
        AT + fromMib * MIB,
        AT + (fromMib + mib) * MIB,
        Access.WRITABLE,
        true,
        "",
        residentMib * MIB,
        false,
        0,
        hugeMib * MIB);
  }

  /** Wholly resident, with zeros where a test says so. */
  private record Zeros(LongPredicate zero) implements AddressSpace {

    @Override
    public OptionalLong word(long address) {
      return OptionalLong.empty();
    }

    @Override
    public Optional<BitSet> residentPages(long start, long end) {
      BitSet all = new BitSet();
      all.set(0, (int) ((end - start) / PAGE));
      return Optional.of(all);
    }

    @Override
    public Optional<Boolean> isZero(long page) {
      return Optional.of(zero.test(page));
    }
  }
}
