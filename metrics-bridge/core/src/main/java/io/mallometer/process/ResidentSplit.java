package io.mallometer.process;

import io.mallometer.ResidentPart;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Divides the resident set into parts that add up to it.
 *
 * <p>Each mapping belongs to one part by what it is; the first rule that fits decides:
 *
 * <ol>
 *   <li>An address in a range that the JVM names: Java heap, code cache. ZGC's heap by its name.
 *   <li>A file, shared memory, the kernel's names {@code [heap]} and {@code [stack]}.
 *   <li>A shape that only one creator makes: an arena of glibc is an unreserved mapping that starts
 *       at a multiple of 64 MiB; a thread's stack has a guard below it that is no reservation;
 *       metaspace is a reservation of known size at a multiple of 16 MiB, committed in granules; an
 *       object that glibc mapped singly has a header.
 *   <li>Zeroed data of a library, right behind its file. Committed parts of a reservation: a
 *       structure of the JVM.
 * </ol>
 *
 * <p>What is left is anonymous memory that no rule knows. The JVM's tables lie in it, so the JVM
 * gets as much of it as it says, or as the tables for this heap may take; where another allocator
 * than glibc serves malloc, the rest is malloc's; otherwise it is unexplained.
 *
 * <p>Then malloc's memory is divided by who uses it, each byte once and never more than is
 * resident: direct buffers, the JVM's own use if it is tracked, other use, and the rest, which the
 * allocator retains.
 */
final class ResidentSplit {

  private static final long ARENA = 64L << 20;
  private static final long LARGEST_GUARD = 1L << 20;
  private static final long LARGEST_ZEROED_DATA = 512L << 10;
  private static final String LIBRARY = "libmallometer";

  private final List<Mapping> mappings;
  private final JvmFacts jvm;
  private final MallocFacts malloc;
  private final MetaspaceRanges metaspace;
  private final Map<ResidentPart, Long> parts = new EnumMap<>(ResidentPart.class);
  private long mallocResident;
  private long unknownResident;

  /** Committed structures of the JVM that were recognised, resident or not. */
  private long recognisedStructures;

  private ResidentSplit(
      List<Mapping> mappings, JvmFacts jvm, MallocFacts malloc, MappedChunks chunks) {
    List<Mapping> separated = malloc.glibc() ? chunks.separate(mappings) : mappings;
    this.metaspace =
        MetaspaceRanges.find(
            separated.stream().filter(mapping -> !named(jvm.ranges(), mapping)).toList(),
            jvm.classSpaceBytes());
    this.mappings =
        chunks.cutAtEnds(
            chunks.cutAtEnds(separated, metaspace.classSpace()), metaspace.metaspace());
    this.jvm = jvm;
    this.malloc = malloc;
  }

  /**
   * The parts, in bytes.
   *
   * @param mappings all of the process, ascending by address
   */
  static Map<ResidentPart, Long> of(
      List<Mapping> mappings, JvmFacts jvm, MallocFacts malloc, MappedChunks chunks) {
    ResidentSplit split = new ResidentSplit(mappings, jvm, malloc, chunks);
    for (int i = 0; i < split.mappings.size(); i++) {
      split.assign(i);
    }
    split.divideUnknown();
    split.divideMalloc();
    return split.parts;
  }

  private void assign(int index) {
    Mapping mapping = mappings.get(index);
    if (inAny(jvm.ranges().heap(), mapping) || mapping.name().contains("java_heap")) {
      add(ResidentPart.JAVA_HEAP, mapping.residentBytes());
    } else if (inAny(jvm.ranges().code(), mapping)) {
      add(ResidentPart.CODE_CACHE, mapping.residentBytes());
    } else if (!mapping.anonymous()) {
      assignNamed(mapping);
    } else {
      assignAnonymous(index, mapping);
    }
  }

  private void assignNamed(Mapping mapping) {
    String name = mapping.name();
    if (name.equals("[heap]")) {
      mallocResident += mapping.residentBytes();
    } else if (name.startsWith("[stack")) {
      add(ResidentPart.THREAD_STACKS, mapping.residentBytes());
    } else if (isSharedMemory(name)) {
      add(ResidentPart.SHARED_MEMORY, mapping.residentBytes());
    } else {
      add(partOfFile(name), mapping.residentBytes());
    }
  }

  private void assignAnonymous(int index, Mapping mapping) {
    long resident = mapping.residentBytes();
    if (mapping.name().contains("malloc") || isArena(index, mapping)) {
      mallocResident += resident;
    } else if (mapping.name().contains("stack") || isStack(index, mapping)) {
      add(ResidentPart.THREAD_STACKS, resident);
    } else if (inAny(metaspace.classSpace(), mapping)) {
      add(ResidentPart.CLASS_SPACE, resident);
    } else if (inAny(metaspace.metaspace(), mapping)) {
      add(ResidentPart.METASPACE, resident);
    } else if (isZeroedData(index, mapping)) {
      add(partOfFile(mappings.get(index - 1).name()), resident);
    } else if (isStructure(index, mapping)) {
      recognisedStructures += mapping.bytes();
      add(ResidentPart.GC_AND_JVM, resident);
    } else {
      unknownResident += resident;
    }
  }

  private void divideUnknown() {
    long library = Math.min(unknownResident, malloc.footprintBytes());
    if (library > 0) {
      add(ResidentPart.MALLOMETER, library);
    }
    unknownResident -= library;
    long structures = Math.min(unknownResident, unrecognisedStructures());
    add(ResidentPart.GC_AND_JVM, structures);
    unknownResident -= structures;
    if (malloc.glibc()) {
      add(ResidentPart.UNEXPLAINED, unknownResident);
    } else {
      add(ResidentPart.UNEXPLAINED, 0);
      mallocResident += unknownResident;
    }
  }

  private void divideMalloc() {
    long rest = mallocResident;
    if (jvm.directBytes().isPresent()) {
      long direct = Math.min(jvm.directBytes().getAsLong(), rest);
      add(ResidentPart.DIRECT_BUFFERS, direct);
      rest -= direct;
    }
    long ownBytes = jvm.tracking().map(NativeMemoryTracking::mallocBytes).orElse(0L);
    long own = Math.min(ownBytes, rest);
    add(ResidentPart.GC_AND_JVM, own);
    rest -= own;
    if (malloc.liveBytes().isPresent()) {
      long others = malloc.liveBytes().getAsLong() - jvm.directBytes().orElse(0) - ownBytes;
      long live = Math.max(0, Math.min(others, rest));
      add(ResidentPart.MALLOC_LIVE, live);
      add(ResidentPart.MALLOC_RETAINED, rest - live);
    } else {
      add(ResidentPart.MALLOC, rest);
    }
  }

  /**
   * What structures without a shape of their own may take: by the JVM's account, else by the
   * largest tables that a collector keeps for a heap, G1's: two mark bitmaps of 1/64 each, four
   * tables of 1/512 each, and 16 MiB for what does not grow with the heap.
   */
  private long unrecognisedStructures() {
    long heap = jvm.maximumHeapBytes().orElse(0);
    long all =
        jvm.tracking()
            .map(NativeMemoryTracking::structureBytes)
            .orElse(heap / 64 * 2 + heap / 512 * 4 + (16L << 20));
    return Math.max(0, all - recognisedStructures);
  }

  /** Made without a reservation of memory and only then made writable, piece by piece. */
  private boolean isArena(int index, Mapping mapping) {
    if (!mapping.writable() || !mapping.noReserve() || !malloc.glibc()) {
      return false;
    }
    long offset = mapping.start() % ARENA;
    if (offset == 0) {
      return true;
    }
    // Protection of single pages may have cut an arena into several mappings.
    Mapping first = mapping;
    for (int i = index - 1; i >= 0 && first.start() % ARENA != 0; i--) {
      Mapping below = mappings.get(i);
      if (!first.startsAtEndOf(below) || !below.anonymous() || !below.noReserve()) {
        return false;
      }
      first = below;
    }
    return first.start() % ARENA == 0 && mapping.start() - first.start() < ARENA;
  }

  private boolean isStack(int index, Mapping mapping) {
    if (!mapping.writable() || mapping.noReserve() || index == 0) {
      return false;
    }
    Mapping below = mappings.get(index - 1);
    return mapping.startsAtEndOf(below)
        && below.anonymous()
        && below.inaccessible()
        && !below.noReserve()
        && below.bytes() <= LARGEST_GUARD;
  }

  private boolean isStructure(int index, Mapping mapping) {
    if (!mapping.writable() || mapping.noReserve()) {
      return false;
    }
    boolean below = index > 0 && isReservation(mappings.get(index - 1), mapping);
    boolean above = index + 1 < mappings.size() && isReservation(mappings.get(index + 1), mapping);
    return below || above;
  }

  /** Reserved and not committed, next to a mapping, and no rest of an arena. */
  private static boolean isReservation(Mapping candidate, Mapping mapping) {
    boolean touches = candidate.startsAtEndOf(mapping) || mapping.startsAtEndOf(candidate);
    boolean endsArena = candidate.end() % ARENA == 0 && candidate.end() == mapping.start();
    return touches
        && !endsArena
        && candidate.anonymous()
        && candidate.inaccessible()
        && candidate.noReserve();
  }

  private boolean isZeroedData(int index, Mapping mapping) {
    if (index == 0 || mapping.bytes() > LARGEST_ZEROED_DATA) {
      return false;
    }
    Mapping below = mappings.get(index - 1);
    return mapping.startsAtEndOf(below) && below.name().startsWith("/") && below.writable();
  }

  private static boolean isSharedMemory(String name) {
    return name.startsWith("/dev/shm/")
        || name.startsWith("/SYSV")
        || name.startsWith("/memfd:")
        || name.startsWith("/dev/zero")
        || name.startsWith("[anon_shmem");
  }

  private static ResidentPart partOfFile(String name) {
    return name.contains(LIBRARY) ? ResidentPart.MALLOMETER : ResidentPart.MAPPED_FILES;
  }

  private static boolean named(JvmRanges ranges, Mapping mapping) {
    return inAny(ranges.heap(), mapping) || inAny(ranges.code(), mapping);
  }

  private static boolean inAny(List<Range> ranges, Mapping mapping) {
    for (Range range : ranges) {
      if (range.contains(mapping)) {
        return true;
      }
    }
    return false;
  }

  private void add(ResidentPart part, long bytes) {
    parts.merge(part, bytes, Long::sum);
  }
}
