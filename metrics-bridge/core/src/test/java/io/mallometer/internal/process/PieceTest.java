package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.MappedRange.Owner;
import io.mallometer.internal.process.MappingKinds.Kind;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

@Tag("any-jdk")
class PieceTest {

  private static final List<StackFrame> OF_PROGRAM =
      List.of(
          StackFrame.ofLibrary("libpool.so", "pool_map", 16),
          StackFrame.ofJava("com.shop.Pool", "open", "Pool.java", 12));

  /**
   * Stacks of JDK 17 and 25. Their libjvm.so has the section .symtab, so all these functions have
   * names.
   */
  @ParameterizedTest
  @CsvSource({
    "CodeHeap::reserve CodeCache::add_heap, CODE_CACHE",
    "ReservedCodeSpace::ReservedCodeSpace CodeCache::initialize_heaps, CODE_CACHE",
    "metaspace::VirtualSpaceNode::create_node Metaspace::allocate, METASPACE",
    "Metaspace::reserve_address_space_for_compressed_classes MetaspaceShared::map_archives, CLASS_SPACE",
    "ReservedHeapSpace::ReservedHeapSpace Universe::reserve_heap, JAVA_HEAP",
    "CardTable::initialize SerialHeap::initialize, STRUCTURE",
    "MetaspaceShared::map_archives Threads::create_vm, STRUCTURE"
  })
  void theReservingFunctionOfHotSpotTellsTheKind(String functions, Kind kind) {
    List<MappedRange> range = List.of(ofJvm(functions.split(" ")));

    for (Kind byRules : List.of(Kind.UNKNOWN, Kind.STRUCTURE, Kind.FILE)) {
      assertThat(kind(byRules, range)).isEqualTo(kind);
    }
    assertThat(Piece.byFrames(range)).isTrue();
  }

  /** The section .symtab is missing, so only exported functions have names. */
  @Test
  void withoutSymbolsTheRulesDecideOnMetadataAndTheRestIsTheJvms() {
    List<MappedRange> range = List.of(ofJvm("", "", ""));

    assertThat(kind(Kind.METASPACE, range)).isEqualTo(Kind.METASPACE);
    assertThat(kind(Kind.CLASS_SPACE, range)).isEqualTo(Kind.CLASS_SPACE);
    assertThat(kind(Kind.UNKNOWN, range)).isEqualTo(Kind.STRUCTURE);
    assertThat(kind(Kind.FILE, range)).isEqualTo(Kind.STRUCTURE);
    assertThat(Piece.byFrames(range)).isFalse();
  }

  @Test
  void anUnknownFunctionOfHotSpotLeavesMetadataToTheRules() {
    List<MappedRange> range = List.of(ofJvm("NewReservation::reserve"));

    assertThat(kind(Kind.METASPACE, range)).isEqualTo(Kind.METASPACE);
    assertThat(kind(Kind.STRUCTURE, range)).isEqualTo(Kind.STRUCTURE);
  }

  /**
   * Reports of the JVM, names of mappings and headers of malloc show the kind more reliably than
   * stack frames.
   */
  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      mode = Mode.EXCLUDE,
      names = {"UNKNOWN", "STRUCTURE", "FILE", "METASPACE", "CLASS_SPACE"})
  void framesDoNotReplaceWhatIsKnown(Kind kind) {
    assertThat(kind(kind, List.of(ofJvm("CardTable::initialize")))).isEqualTo(kind);
    assertThat(kind(kind, List.of(range(OF_PROGRAM, Owner.PROGRAM)))).isEqualTo(kind);
  }

  @Test
  void aMappedFileStaysAFile() {
    Mapping file = Mappings.of(4096, 8192, "rw-p", "/lib/server/classes.jsa", 4096, false);

    assertThat(
            Piece.of(List.of(file), Map.of(4096L, Kind.FILE), List.of(ofJvm("CodeHeap::reserve"))))
        .extracting(Piece::kind)
        .containsExactly(Kind.FILE);
  }

  /**
   * Memory of the program may look like the JVM's, for example a pool that has the size and the
   * alignment of metaspace.
   */
  @ParameterizedTest
  @EnumSource(names = {"UNKNOWN", "STRUCTURE", "FILE", "METASPACE", "CLASS_SPACE"})
  void whatTheProgramMappedIsNotTheJvmsWhateverItsShape(Kind byRules) {
    assertThat(kind(byRules, List.of(range(OF_PROGRAM, Owner.PROGRAM)))).isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void theOwnerOfTheRangeComesFirst() {
    assertThat(kind(Kind.STRUCTURE, List.of(range(List.of(), Owner.LIBRARY))))
        .isEqualTo(Kind.MALLOMETER);
    assertThat(kind(Kind.STRUCTURE, List.of(range(List.of(), Owner.ALLOCATOR))))
        .isEqualTo(Kind.MALLOC);
    assertThat(kind(Kind.SLOTS, List.of(range(List.of(), Owner.ALLOCATOR)))).isEqualTo(Kind.SLOTS);
  }

  @Test
  void withoutARangeOrACallSiteTheRulesDecide() {
    assertThat(kind(Kind.STRUCTURE, List.of())).isEqualTo(Kind.STRUCTURE);
    assertThat(kind(Kind.FILE, List.of(range(List.of(), Owner.PROGRAM)))).isEqualTo(Kind.FILE);
    assertThat(Piece.byFrames(List.of(range(List.of(), Owner.PROGRAM)))).isFalse();
  }

  /** The ranges that the JVM mapped at its start are unknown after an attach. */
  @Test
  void rulesDecideIfTheStartOfTheJvmWasNotRecorded() {
    List<StackFrame> later =
        List.of(StackFrame.ofLibrary("libjvm.so", "metaspace::VirtualSpaceNode::create_node", 16));

    assertThat(Piece.byFrames(List.of(range(later, Owner.PROGRAM)))).isFalse();
  }

  private static Kind kind(Kind byRules, List<MappedRange> ranges) {
    Mapping memory = Mappings.of(4096, 8192, "rw-p", "", 4096, false);
    return Piece.of(List.of(memory), Map.of(4096L, byRules), ranges).get(0).kind();
  }

  private static MappedRange ofJvm(String... functions) {
    List<StackFrame> frames = new ArrayList<>();
    frames.add(
        StackFrame.ofLibrary(
            "libjvm.so", functions[0].isEmpty() ? "" : "os::pd_reserve_memory", 16));
    for (String function : functions) {
      frames.add(StackFrame.ofLibrary("libjvm.so", function, 16));
    }
    frames.add(StackFrame.ofLibrary("libjvm.so", "JNI_CreateJavaVM", 16));
    return range(frames, Owner.PROGRAM);
  }

  private static MappedRange range(List<StackFrame> frames, Owner owner) {
    return new MappedRange(4096, 8192, frames, "", owner);
  }
}
