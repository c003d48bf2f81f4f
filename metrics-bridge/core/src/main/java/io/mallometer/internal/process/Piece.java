package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.MappedRange.Owner;
import io.mallometer.internal.process.MappingKinds.Kind;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A piece of a mapping, with the kind of its memory.
 *
 * @param range the range of addresses, mapped by one call, in which the piece lies; empty if the
 *     library recorded no such call
 */
record Piece(Mapping mapping, Kind kind, Optional<MappedRange> range) {

  /**
   * The kinds that {@link MappingKinds} guesses from the size and the neighbours of anonymous
   * memory.
   */
  private static final Set<Kind> BY_SHAPE =
      EnumSet.of(Kind.UNKNOWN, Kind.STRUCTURE, Kind.FILE, Kind.METASPACE, Kind.CLASS_SPACE);

  /**
   * The kinds of memory that HotSpot's functions reserve, by the beginning of the function's name.
   * Most of these names are in {@code .symtab} only, which some JVMs lack.
   */
  private static final Map<String, Kind> RESERVING = new LinkedHashMap<>();

  static {
    RESERVING.put("CodeHeap::", Kind.CODE_CACHE);
    RESERVING.put("CodeCache::", Kind.CODE_CACHE);
    RESERVING.put("metaspace::", Kind.METASPACE);
    RESERVING.put("Metaspace::", Kind.CLASS_SPACE);
    RESERVING.put("Universe::reserve_heap", Kind.JAVA_HEAP);
  }

  private static final String START_OF_JVM = "JNI_CreateJavaVM";

  /**
   * Returns the pieces with their kinds.
   *
   * @param pieces the mappings, cut at the bounds of the ranges
   * @param rules maps start addresses to the kinds that {@link MappingKinds} found. A piece whose
   *     start address is missing has the kind of the piece before it
   */
  static List<Piece> of(List<Mapping> pieces, Map<Long, Kind> rules, List<MappedRange> ranges) {
    List<Piece> all = new ArrayList<>(pieces.size());
    Kind latest = Kind.UNKNOWN;
    int next = 0;
    for (Mapping mapping : pieces) {
      latest = rules.getOrDefault(mapping.start(), latest);
      while (next < ranges.size() && ranges.get(next).end() <= mapping.start()) {
        next++;
      }
      boolean inRange = next < ranges.size() && ranges.get(next).start() <= mapping.start();
      all.add(
          inRange
              ? new Piece(
                  mapping, kind(mapping, latest, ranges.get(next)), Optional.of(ranges.get(next)))
              : new Piece(mapping, latest, Optional.empty()));
    }
    return all;
  }

  /**
   * Returns whether the recorded stacks show the kinds of all memory of the JVM. This requires that
   * the start of the JVM was recorded and that its functions have names. After an attach, only
   * memory that was reserved since then has stacks.
   */
  static boolean byFrames(List<MappedRange> ranges) {
    return ranges.stream()
        .anyMatch(
            range ->
                range.isOfJvm()
                    && !range.frames().get(0).name().isEmpty()
                    && range.frames().stream()
                        .anyMatch(frame -> frame.name().equals(START_OF_JVM)));
  }

  /**
   * Returns the kind of memory in a range. {@link MappingKinds} only guesses the kind of anonymous
   * memory, so the stack of the call that reserved the range decides instead. The stack may show
   * that the JVM made the call, but not for which purpose. The guess then serves only to
   * distinguish class metadata from other memory of the JVM.
   */
  private static Kind kind(Mapping mapping, Kind byRules, MappedRange range) {
    if (range.owner() == Owner.LIBRARY) {
      return Kind.MALLOMETER;
    }
    if (range.owner() == Owner.ALLOCATOR) {
      return byRules == Kind.SLOTS ? byRules : Kind.MALLOC;
    }
    if (!mapping.anonymous() || !BY_SHAPE.contains(byRules)) {
      return byRules;
    }
    if (!range.isOfJvm()) {
      return range.isOfApplication() ? Kind.UNKNOWN : byRules;
    }
    boolean metadata = byRules == Kind.METASPACE || byRules == Kind.CLASS_SPACE;
    return reserved(range).orElse(metadata ? byRules : Kind.STRUCTURE);
  }

  /**
   * Searches the stack, innermost frame first, for a function of {@link #RESERVING}. Returns the
   * function's kind of memory; empty if the stack has no such function.
   */
  private static Optional<Kind> reserved(MappedRange range) {
    for (StackFrame frame : range.frames()) {
      for (Map.Entry<String, Kind> function : RESERVING.entrySet()) {
        if (frame.name().startsWith(function.getKey())) {
          return Optional.of(function.getValue());
        }
      }
    }
    return Optional.empty();
  }
}
