package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class PiecesTest {

  private static final String NAME = "[anon: something]";
  private static final Mapping FIRST = mapping(0x10000, 0x20000, 0x8000);
  private static final Mapping SECOND = mapping(0x20000, 0x40000, 0x20000);

  @Test
  void aRangeIsCutOutOfTheMiddle() {
    assertThat(cutOut(List.of(SECOND), new Range(0x24000, 0x30000)))
        .containsExactly(
            mapping(0x20000, 0x24000, 0x4000),
            named(0x24000, 0x30000, 0xc000),
            mapping(0x30000, 0x40000, 0x10000));
  }

  @Test
  void aRangeMayCoverSeveralMappings() {
    assertThat(cutOut(List.of(FIRST, SECOND), new Range(0x18000, 0x28000)))
        .containsExactly(
            mapping(0x10000, 0x18000, 0),
            named(0x18000, 0x20000, 0x8000),
            named(0x20000, 0x28000, 0x8000),
            mapping(0x28000, 0x40000, 0x18000));
  }

  @Test
  void rangesMayTouchAndOverlap() {
    assertThat(
            cutOut(
                List.of(SECOND),
                new Range(0x24000, 0x28000),
                new Range(0x20000, 0x24000),
                new Range(0x26000, 0x2a000)))
        .containsExactly(
            named(0x20000, 0x24000, 0x4000),
            named(0x24000, 0x2a000, 0x6000),
            mapping(0x2a000, 0x40000, 0x16000));
  }

  @Test
  void whatIsOutsideStaysWhole() {
    assertThat(
            cutOut(List.of(FIRST, SECOND), new Range(0x1000, 0x10000), new Range(0x40000, 0x50000)))
        .containsExactly(FIRST, SECOND);
    assertThat(cutOut(List.of(FIRST))).containsExactly(FIRST);
  }

  /**
   * The page table cannot be read. The smaller part of a mapping that is cut in two then counts as
   * fully resident.
   */
  @Test
  void residentBytesAddUpWithoutAPageTable() {
    Pieces pieces =
        new Pieces(AddressSpace.unreadable(), List.of(SECOND, mapping(0x50000, 0x60000, 0x2000)));
    pieces.cut(List.of(new Range(0x21000, 0x3f000), new Range(0x50000, 0x54000)));

    assertThat(pieces.all().stream().mapToLong(Mapping::residentBytes).sum()).isEqualTo(0x22000);
    assertThat(pieces.all())
        .allMatch(piece -> piece.residentBytes() >= 0 && piece.residentBytes() <= piece.bytes());
  }

  @Test
  void ofWhatIsWhollyResidentEachPieceIs() {
    Pieces pieces = new Pieces(new NeverLookedAt(), List.of(SECOND, mapping(0x50000, 0x60000, 0)));
    pieces.cut(List.of(new Range(0x21000, 0x3f000), new Range(0x50000, 0x54000)));

    assertThat(pieces.all())
        .containsExactly(
            mapping(0x20000, 0x21000, 0x1000),
            mapping(0x21000, 0x3f000, 0x1e000),
            mapping(0x3f000, 0x40000, 0x1000),
            mapping(0x50000, 0x54000, 0),
            mapping(0x54000, 0x60000, 0));
  }

  private static final class NeverLookedAt implements AddressSpace {
    @Override
    public OptionalLong word(long address) {
      throw new AssertionError(address);
    }

    @Override
    public Optional<BitSet> residentPages(long start, long end) {
      throw new AssertionError(start);
    }
  }

  private static List<Mapping> cutOut(List<Mapping> mappings, Range... ranges) {
    Pieces pieces = new Pieces(new UpperHalves(), mappings);
    pieces.cutOut(List.of(ranges), NAME);
    return pieces.all();
  }

  private static Mapping mapping(long start, long end, long resident) {
    return Mappings.of(start, end, "rw-p", "", resident, false);
  }

  private static Mapping named(long start, long end, long resident) {
    return Mappings.of(start, end, "rw-p", NAME, resident, false);
  }

  private static final class UpperHalves implements AddressSpace {
    @Override
    public OptionalLong word(long address) {
      return OptionalLong.empty();
    }

    @Override
    public Optional<BitSet> residentPages(long start, long end) {
      BitSet pages = new BitSet();
      for (long at = start; at < end; at += PAGE) {
        pages.set((int) ((at - start) / PAGE), at >= SECOND.start() || at % 0x10000 >= 0x8000);
      }
      return Optional.of(pages);
    }
  }
}
