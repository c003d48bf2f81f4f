package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class MappedChunksTest {

  private static final long MIB = 1 << 20;
  private static final long AT = 0x7f0000000000L;
  private static final Mapping MAPPING = Mappings.of(AT, AT + MIB, "rw-p", "", MIB, false);

  private final MemoryByHand memory = new MemoryByHand();
  private final MappedChunks.Searched searched = new MappedChunks.Searched();
  private final MappedChunks chunks = search(1_000);

  @Test
  void objectsFollowEachOther() {
    memory.object(AT, 0x40000).object(AT + 0x40000, 0x21000).object(AT + 0x80000, 0x40000);

    assertThat(inRow(chunks))
        .containsExactly(new Range(AT, AT + 0x40000), new Range(AT + 0x40000, AT + 0x61000));
  }

  /** The words are those that glibc 2.43 writes for malloc(200000) and malloc(20000). */
  @Test
  void sizesOfGlibc243LeaveTheHeaderOut() {
    memory.word(AT, 0).word(AT + 8, 0x30ff2).word(AT + 0x31000, 0).word(AT + 0x31008, 0x4ff2);

    assertThat(inRow(chunks))
        .containsExactly(new Range(AT, AT + 0x31000), new Range(AT + 0x31000, AT + 0x36000));
  }

  @Test
  void objectsAreFoundBehindOtherMemory() {
    memory.object(AT + 0x8000, 0x40000).object(AT + 0x90000, 0x20000);

    assertThat(chunks.within(List.of(MAPPING)))
        .containsExactly(
            new Range(AT + 0x8000, AT + 0x48000), new Range(AT + 0x90000, AT + 0xb0000));
  }

  /**
   * A program may write words that look like a header into its object, at the beginning of a page.
   * Such words are no header.
   */
  @Test
  void objectsWithinObjectsAreNone() {
    memory.object(AT + 0x8000, 0x40000).object(AT + 0x9000, 0x20000);

    assertThat(chunks.within(List.of(MAPPING)))
        .containsExactly(new Range(AT + 0x8000, AT + 0x48000));
  }

  @Test
  void whatIsBelowGlibcsThresholdIsNoObject() {
    memory.object(AT + 0x8000, 0x10000);

    assertThat(chunks.within(List.of(MAPPING))).isEmpty();
  }

  @Test
  void headersThatLieAreNoObjects() {
    for (long word :
        new long[] {0, 2, MIB | 3, 2 * MIB | 2, 0x1802, -4096 | 2, Long.MIN_VALUE | 2}) {
      memory.word(AT, 0).word(AT + 8, word);
      assertThat(inRow(chunks)).isEmpty();
      assertThat(chunks.within(List.of(MAPPING))).isEmpty();
    }
    memory.word(AT, 1).word(AT + 8, 0x40000 | 2);
    assertThat(inRow(chunks)).isEmpty();
  }

  @Test
  void noMorePlacesAreLookedAtThanAllowed() {
    Mapping large = Mappings.of(AT + MIB, AT + 1024 * MIB, "rw-p", "", 1023 * MIB, false);
    memory.object(AT + 0x8000, 0x40000);

    assertThat(chunks.within(List.of(large, MAPPING)))
        .containsExactly(new Range(AT + 0x8000, AT + 0x48000));
    assertThat(memory.reads()).isLessThan(2_100);
  }

  @Test
  void whatWasSearchedInVainIsNotSearchedAgain() {
    chunks.within(List.of(MAPPING));
    int reads = memory.reads();
    search(1_000).within(List.of(MAPPING));

    assertThat(reads).isEqualTo(256);
    assertThat(memory.reads()).isEqualTo(reads);
  }

  @Test
  void whatHasChangedIsSearchedAgain() {
    chunks.within(List.of(MAPPING));
    memory.object(AT + 0x8000, 0x40000);
    Mapping changed = Mappings.of(AT, AT + MIB, "rw-p", "", MIB - 4096, false);

    assertThat(search(1_000).within(List.of(changed))).hasSize(1);
  }

  @Test
  void whatWasFoundIsFoundAgain() {
    memory.object(AT + 0x8000, 0x40000);
    chunks.within(List.of(MAPPING));

    assertThat(search(1_000).within(List.of(MAPPING)))
        .containsExactly(new Range(AT + 0x8000, AT + 0x48000));
  }

  @Test
  void aLargeMappingIsSearchedInSeveralSplits() {
    Mapping large = Mappings.of(AT, AT + 16 * MIB, "rw-p", "", 16 * MIB, false);
    memory.object(AT + 10 * MIB, 0x40000);
    int searches = 1;
    while (search(1_000).within(List.of(large)).isEmpty()) {
      searches++;
    }

    assertThat(searches).isEqualTo(3);
  }

  private MappedChunks search(int most) {
    return new MappedChunks(memory, most, searched);
  }

  private static List<Range> inRow(MappedChunks chunks) {
    List<Range> found = new ArrayList<>();
    chunks.addRow(MAPPING, found);
    return found;
  }
}
