package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.process.MappingKinds.Kind;
import io.mallometer.model.CallSite;
import io.mallometer.model.ResidentMemory.HugePages;
import io.mallometer.model.ResidentMemory.Mapped;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.ResidentStacks.ResidentStack;
import io.mallometer.model.SelfReport.SlotPages;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides the resident set into parts that add up to it.
 *
 * <p>First the mappings are cut where memory of another kind begins, because the kernel joins
 * neighbours to one mapping. Each piece then has one kind ({@link MappingKinds}).
 *
 * <p>Memory of unknown kind is attributed to the JVM, up to a limit. The limit is the largest
 * possible total size of the JVM structures (such as the collector's tables) that were not
 * recognised. Memory above the limit is malloc's if another allocator than glibc serves malloc;
 * otherwise it is unexplained. Memory that the program or its libraries mapped is neither the JVM's
 * nor malloc's.
 *
 * <p>Finally malloc's memory is divided among direct buffers, the JVM (if its Native Memory
 * Tracking is on) and other code. The rest is retained by the allocator. Large live objects that
 * were never touched are not resident. Such objects are most likely queues of the JVM, so they are
 * subtracted from the bytes that the JVM has from malloc.
 */
final class ResidentSplit {

  /**
   * The largest number of addresses that are read to find objects of malloc, at one microsecond
   * each.
   */
  private static final int MOST_PLACES = 20_000;

  /**
   * The largest size of the guards at the end of a stack: 20 KiB for HotSpot's by default, and a
   * page for glibc's.
   */
  private static final long LARGEST_GUARDS = 32L << 10;

  private final JvmFacts jvm;
  private final MallocFacts malloc;
  private final Map<ResidentPart, Long> parts = new EnumMap<>(ResidentPart.class);
  private final Map<String, Kind> kindsByName = new HashMap<>();
  private long mallocResident;
  private long mallocTotal;

  /**
   * The non-resident bytes of malloc's objects that have a mapping of their own or are in slots
   * (pages for one sampled object each).
   */
  private long untouched;

  private long unknownResident;
  private long presumed;

  /** The committed bytes of the JVM's structures that were recognised, resident or not. */
  private long recognisedStructures;

  private long copiedFiles;

  private final Map<String, Long> files = new HashMap<>();

  private List<HugePages.Part> hugePages = List.of();
  private List<Mapped> mapped = List.of();

  private ResidentSplit(JvmFacts jvm, MallocFacts malloc) {
    this.jvm = jvm;
    this.malloc = malloc;
  }

  /**
   * Divides the resident set.
   *
   * @param mappings all mappings of the process, ascending by address
   * @param searched the mappings in which earlier searches found no object of malloc
   * @param ranges the ranges that the process mapped, ascending by address
   */
  static ResidentSplit of(
      List<Mapping> mappings,
      JvmFacts jvm,
      MallocFacts malloc,
      AddressSpace memory,
      MappedChunks.Searched searched,
      List<MappedRange> ranges) {
    ResidentSplit split = new ResidentSplit(jvm, malloc);
    List<Piece> pieces = split.pieces(mappings, memory, searched, ranges);
    split.assign(pieces);
    split.mapped = ApplicationMappings.in(pieces);
    split.divideUnknown(malloc.unlistedBytes(ranges));
    split.divideMalloc();
    split.divideHugePages(mappings, pieces);
    return split;
  }

  /**
   * Divides the resident set by the code that requested the memory.
   *
   * @param mappings all mappings of the process, ascending by address
   * @param ranges the ranges that the process mapped, ascending by address
   * @param attached whether the library was attached, so that earlier mappings are unknown
   */
  static List<ResidentStack> origins(
      List<Mapping> mappings,
      JvmFacts jvm,
      MallocFacts malloc,
      AddressSpace memory,
      List<MappedRange> ranges,
      List<CallSite> sites,
      boolean attached) {
    List<Piece> pieces =
        new ResidentSplit(jvm, malloc)
            .pieces(mappings, memory, new MappedChunks.Searched(), ranges);
    return ResidentOrigins.of(pieces, malloc.unlistedBytes(ranges), sites, malloc, attached);
  }

  /**
   * Cuts the mappings at the bounds of the ranges, and where the kind of memory changes. Returns
   * the pieces with their kinds.
   */
  private List<Piece> pieces(
      List<Mapping> mappings,
      AddressSpace memory,
      MappedChunks.Searched searched,
      List<MappedRange> ranges) {
    Pieces pieces = new Pieces(memory, withReservations(mappings));
    List<Mapping> rough = separate(pieces, new MappedChunks(memory, MOST_PLACES, searched), memory);
    MappingKinds kinds = kinds(rough);
    Map<Long, Kind> kindsByStart = new HashMap<>();
    for (int i = 0; i < rough.size(); i++) {
      kindsByStart.put(rough.get(i).start(), kinds.of(i));
    }
    List<Range> bounds = new ArrayList<>(ranges.size());
    for (MappedRange range : ranges) {
      bounds.add(new Range(range.start(), range.end()));
    }
    pieces.cut(bounds);
    return Piece.of(pieces.all(), kindsByStart, ranges);
  }

  /**
   * Marks reserved address space if the kernel does not. The kernel marks it with the flag {@code
   * nr}, which no mapping has with {@code vm.overcommit_memory=2}. Inaccessible anonymous memory
   * that is larger than the guards of a stack then counts as reserved.
   */
  private static List<Mapping> withReservations(List<Mapping> mappings) {
    if (mappings.stream().anyMatch(Mapping::noReserve)) {
      return mappings;
    }
    List<Mapping> told = new ArrayList<>(mappings.size());
    for (Mapping mapping : mappings) {
      boolean reservation =
          mapping.anonymous() && mapping.inaccessible() && mapping.bytes() > LARGEST_GUARDS;
      told.add(reservation ? mapping.asReservation() : mapping);
    }
    return told;
  }

  Map<ResidentPart, Long> parts() {
    return parts;
  }

  /** Returns the bytes of unknown kind that are attributed to the JVM. */
  long presumedBytes() {
    return presumed;
  }

  /** Returns the bytes of pages of mapped files that the process copied by writing. */
  long copiedFileBytes() {
    return copiedFiles;
  }

  long mallocBytes() {
    return mallocTotal;
  }

  /**
   * Returns the resident bytes of mapped files by path, without pages that the process copied by
   * writing.
   */
  Map<String, Long> mappedFiles() {
    return files;
  }

  List<HugePages.Part> hugePages() {
    return hugePages;
  }

  /** Returns the anonymous memory that the program or its libraries mapped, by call site. */
  List<Mapped> mapped() {
    return mapped;
  }

  private void divideHugePages(List<Mapping> mappings, List<Piece> pieces) {
    Map<ResidentPart, Long> huge = new EnumMap<>(ResidentPart.class);
    int next = 0;
    for (Piece part : pieces) {
      Mapping piece = part.mapping();
      while (mappings.get(next).end() <= piece.start()) {
        next++;
      }
      Mapping whole = mappings.get(next);
      if (whole.hugeBytes() > 0 && piece.residentBytes() > 0) {
        double share = (double) piece.residentBytes() / whole.residentBytes();
        huge.merge(partOf(part.kind()), Math.round(share * whole.hugeBytes()), Long::sum);
      }
    }
    List<HugePages.Part> divided = new ArrayList<>();
    huge.forEach((part, bytes) -> divided.add(new HugePages.Part(part, bytes)));
    divided.sort(Comparator.comparingLong((HugePages.Part part) -> -part.bytes()));
    hugePages = divided;
  }

  private ResidentPart partOf(Kind kind) {
    return kind == Kind.UNKNOWN && !malloc.glibc() ? ResidentPart.MALLOC : kind.part;
  }

  private List<Mapping> separate(Pieces pieces, MappedChunks chunks, AddressSpace memory) {
    pieces.cut(jvm.ranges().heap());
    pieces.cut(jvm.ranges().code());
    pieces.cutOut(slots(), MappingKinds.SLOTS);
    if (malloc.glibc()) {
      pieces.cutOut(ArenaHeaps.in(maybeMetadata(pieces.all()), memory), MappingKinds.HEAPS);
      pieces.cutOut(rows(pieces.all(), chunks), MappingKinds.MAPPED_CHUNKS);
    }
    pieces.cutOut(
        MetaspaceNodes.classSpace(maybeMetadata(pieces.all()), jvm.metadata()),
        MappingKinds.CLASS_SPACE);
    pieces.cutOut(
        MetaspaceNodes.others(maybeMetadata(pieces.all()), jvm.metadata()), MappingKinds.METASPACE);
    if (malloc.glibc()) {
      pieces.cutOut(chunks.within(doubtful(pieces.all())), MappingKinds.MAPPED_CHUNKS);
      pieces.cutOut(chunks.mainArena(), MappingKinds.HEAPS);
    }
    return pieces.all();
  }

  private List<Range> slots() {
    SlotPages slots = malloc.slots();
    return slots.reservedBytes() > 0
        ? List.of(new Range(slots.address(), slots.address() + slots.reservedBytes()))
        : List.of();
  }

  private MappingKinds kinds(List<Mapping> pieces) {
    return new MappingKinds(pieces, jvm, malloc.tableBytes(), kindsByName);
  }

  private static List<Range> rows(List<Mapping> pieces, MappedChunks chunks) {
    List<Range> rows = new ArrayList<>();
    for (Mapping piece : pieces) {
      if (mayHoldObjects(piece)) {
        chunks.addRow(piece, rows);
      }
    }
    return rows;
  }

  /**
   * Returns the memory that may contain class metadata: anonymous, without a name, and in no range
   * that the JVM reports.
   */
  private List<Mapping> maybeMetadata(List<Mapping> pieces) {
    MappingKinds kinds = kinds(pieces);
    List<Mapping> maybe = new ArrayList<>();
    for (Mapping piece : pieces) {
      if (piece.name().isEmpty() && piece.anonymous() && !kinds.namedByJvm(piece)) {
        maybe.add(piece);
      }
    }
    return maybe;
  }

  /**
   * Returns the pieces that may contain objects of malloc: memory of unknown kind, structures of
   * the JVM, and large stacks.
   */
  private List<Mapping> doubtful(List<Mapping> pieces) {
    MappingKinds kinds = kinds(pieces);
    List<Mapping> doubtful = new ArrayList<>();
    for (int i = 0; i < pieces.size(); i++) {
      Mapping piece = pieces.get(i);
      if (mayHoldObjects(piece) && isDoubtful(kinds.of(i), piece)) {
        doubtful.add(piece);
      }
    }
    return doubtful;
  }

  private boolean isDoubtful(Kind kind, Mapping piece) {
    return kind == Kind.STRUCTURE
        || kind == Kind.UNKNOWN
        || kind == Kind.THREAD_STACK && piece.bytes() > jvm.stackBytes().orElse(Long.MAX_VALUE);
  }

  private static boolean mayHoldObjects(Mapping piece) {
    return piece.residentBytes() > 0 && piece.name().isEmpty() && piece.committed();
  }

  private void assign(List<Piece> pieces) {
    long[] resident = new long[Kind.values().length];
    boolean[] present = new boolean[resident.length];
    for (Piece piece : pieces) {
      Kind kind = piece.kind();
      resident[kind.ordinal()] += piece.mapping().residentBytes();
      present[kind.ordinal()] = true;
      countBeside(kind, piece.mapping());
    }
    for (Kind kind : Kind.values()) {
      if (present[kind.ordinal()]) {
        assign(kind, resident[kind.ordinal()]);
      }
    }
  }

  private void countBeside(Kind kind, Mapping piece) {
    if (kind == Kind.FILE) {
      copiedFiles += piece.copiedBytes();
      files.merge(piece.name(), piece.residentBytes() - piece.copiedBytes(), Long::sum);
    } else if (kind == Kind.STRUCTURE && piece.committed()) {
      recognisedStructures += piece.bytes();
    } else if (kind == Kind.MALLOC && piece.name().equals(MappingKinds.MAPPED_CHUNKS)) {
      untouched += piece.bytes() - piece.residentBytes();
    }
  }

  private void assign(Kind kind, long resident) {
    switch (kind) {
      case MALLOC -> mallocResident += resident;
      case SLOTS -> divideSlots(resident);
      case UNKNOWN -> unknownResident = resident;
      default -> add(partOf(kind), resident);
    }
  }

  private void divideSlots(long resident) {
    long excess = Math.min(resident, malloc.slots().excessBytes());
    long objects = malloc.slots().takenBytes() - malloc.slots().excessBytes();
    add(ResidentPart.MALLOMETER, excess);
    mallocResident += resident - excess;
    untouched += Math.max(0, objects - (resident - excess));
  }

  private void divideUnknown(long unlistedBytes) {
    long apart = mapped.stream().mapToLong(Mapped::bytes).sum();
    unknownResident -= apart;
    long library = Math.min(unknownResident, unlistedBytes);
    if (library > 0) {
      add(ResidentPart.MALLOMETER, library);
    }
    unknownResident -= library;
    presumed = Math.min(unknownResident, unrecognisedStructures());
    add(ResidentPart.GC_AND_JVM, presumed);
    unknownResident -= presumed;
    if (malloc.glibc()) {
      add(ResidentPart.UNEXPLAINED, unknownResident + apart);
    } else {
      add(ResidentPart.UNEXPLAINED, apart);
      mallocResident += unknownResident;
    }
  }

  private void divideMalloc() {
    mallocTotal = mallocResident;
    long rest = mallocResident;
    if (jvm.directBytes().isPresent()) {
      long direct = Math.min(jvm.directBytes().getAsLong(), rest);
      add(ResidentPart.DIRECT_BUFFERS, direct);
      rest -= direct;
    }
    long ownBytes = jvm.tracking().isPresent() ? jvm.tracking().get().mallocBytes() : 0;
    long own = Math.min(Math.max(0, ownBytes - untouched), rest);
    add(ResidentPart.GC_AND_JVM, own);
    rest -= own;
    if (malloc.liveBytes().isPresent()) {
      long others =
          malloc.liveBytes().getAsLong()
              - jvm.directBytes().orElse(0)
              - ownBytes
              - Math.max(0, untouched - ownBytes);
      long live = Math.max(0, Math.min(others, rest));
      add(ResidentPart.MALLOC_LIVE, live);
      add(ResidentPart.MALLOC_RETAINED, rest - live);
    } else {
      add(ResidentPart.MALLOC, rest);
    }
  }

  /**
   * Returns an upper bound of the bytes of the JVM's structures that were not recognised. Native
   * Memory Tracking reports the committed bytes of all structures. This number may be too large,
   * because it includes memory that was never touched. The size of the collector's tables is
   * therefore a second upper bound.
   */
  private long unrecognisedStructures() {
    long accounted =
        jvm.tracking().isPresent() ? jvm.tracking().get().structureBytes() : Long.MAX_VALUE;
    return Math.max(0, Math.min(accounted, jvm.largestStructures()) - recognisedStructures);
  }

  private void add(ResidentPart part, long bytes) {
    parts.put(part, parts.getOrDefault(part, 0L) + bytes);
  }
}
