package io.mallometer.internal.process;

import io.mallometer.model.ResidentPart;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Finds the kind of a mapping. The first of these rules that applies decides:
 *
 * <ol>
 *   <li>The address lies in a range that the JVM reports as Java heap or code cache. The heap of
 *       ZGC is recognised by the name of its mappings.
 *   <li>The mapping has a file, shared memory, or a name from the kernel or from {@link
 *       Pieces#cutOut}.
 *   <li>The size and the neighbours show the kind. A thread's stack, for example, has an
 *       inaccessible guard below it.
 *   <li>Memory directly behind a library's file is its zeroed data. Committed parts of a
 *       reservation are a structure of the JVM.
 * </ol>
 */
final class MappingKinds {

  /**
   * The kind of a mapping, and the part of the resident set to which its memory belongs. Memory of
   * malloc and memory of unknown kind are later divided into further parts.
   */
  enum Kind {
    JAVA_HEAP(ResidentPart.JAVA_HEAP),
    CLASS_SPACE(ResidentPart.CLASS_SPACE),
    METASPACE(ResidentPart.METASPACE),
    CODE_CACHE(ResidentPart.CODE_CACHE),
    THREAD_STACK(ResidentPart.THREAD_STACKS),
    MALLOC(ResidentPart.MALLOC),
    FILE(ResidentPart.MAPPED_FILES),
    SHARED_MEMORY(ResidentPart.SHARED_MEMORY),
    MALLOMETER(ResidentPart.MALLOMETER),
    /** The native library's pages that contain sampled objects of malloc. */
    SLOTS(ResidentPart.MALLOC),
    /** A structure of the JVM in a reserved range of its own. */
    STRUCTURE(ResidentPart.GC_AND_JVM),
    UNKNOWN(ResidentPart.UNEXPLAINED);

    final ResidentPart part;

    Kind(ResidentPart part) {
      this.part = part;
    }
  }

  private static final long LARGEST_GUARD = 1L << 20;
  private static final long LARGEST_ZEROED_DATA = 512L << 10;

  /** The most bytes of the native library's zeroed data, which has 1.4 MiB at present. */
  private static final long LARGEST_OWN_ZEROED_DATA = 2L << 20;

  private static final String LIBRARY = "libmallometer";

  /** Mappings of ZGC's heap have this text in their names. */
  static final String JAVA_HEAP = "java_heap";

  /**
   * The name that mallometer gives to a mapping of the class space. The kernel's names have the
   * same form.
   */
  static final String CLASS_SPACE = "[anon: class space]";

  static final String METASPACE = "[anon: metaspace]";
  static final String MAPPED_CHUNKS = "[anon: singly mapped by malloc]";
  static final String HEAPS = "[anon: heap of malloc]";
  static final String SLOTS = "[anon: slots]";

  private final List<Mapping> mappings;
  private final Range[] heap;
  private final Range[] code;
  private final OptionalLong stackBytes;
  private final long tableBytes;

  private final Map<String, Kind> byName;

  /**
   * Prepares to find the kinds of a process' mappings.
   *
   * @param mappings all mappings, ascending by address, cut where memory of another kind begins
   * @param tableBytes the size of the native library's tables, which are one mapping; 0 if there
   *     are none
   * @param byName a cache: the kinds by the names of the mappings
   */
  MappingKinds(List<Mapping> mappings, JvmFacts jvm, long tableBytes, Map<String, Kind> byName) {
    this.mappings = mappings;
    this.heap = jvm.ranges().heap().toArray(new Range[0]);
    this.code = jvm.ranges().code().toArray(new Range[0]);
    this.stackBytes = jvm.stackBytes();
    this.tableBytes = tableBytes;
    this.byName = byName;
  }

  Kind of(int index) {
    Mapping mapping = mappings.get(index);
    if (inAny(heap, mapping)) {
      return Kind.JAVA_HEAP;
    }
    Kind named = byName(mapping.name());
    if (named == Kind.JAVA_HEAP) {
      return named;
    }
    if (inAny(code, mapping)) {
      return Kind.CODE_CACHE;
    }
    if (mapping.anonymous()) {
      return anonymous(index, mapping, named);
    }
    return named == Kind.UNKNOWN ? Kind.FILE : named;
  }

  boolean namedByJvm(Mapping mapping) {
    return inAny(heap, mapping) || inAny(code, mapping);
  }

  private Kind byName(String name) {
    if (name.isEmpty()) {
      return Kind.UNKNOWN;
    }
    Kind known = byName.get(name);
    if (known == null) {
      known = Mapping.isNameOfAnonymous(name) ? ofAnonymous(name) : named(name);
      byName.put(name, known);
    }
    return known;
  }

  private static Kind named(String name) {
    if (name.contains(JAVA_HEAP)) {
      return Kind.JAVA_HEAP;
    }
    if (name.equals("[heap]")) {
      return Kind.MALLOC;
    }
    if (name.startsWith("[stack")) {
      return Kind.THREAD_STACK;
    }
    if (isSharedMemory(name)) {
      return Kind.SHARED_MEMORY;
    }
    return name.contains(LIBRARY) ? Kind.MALLOMETER : Kind.FILE;
  }

  private static Kind ofAnonymous(String name) {
    if (name.contains(JAVA_HEAP)) {
      return Kind.JAVA_HEAP;
    }
    if (name.equals(CLASS_SPACE)) {
      return Kind.CLASS_SPACE;
    }
    if (name.equals(METASPACE)) {
      return Kind.METASPACE;
    }
    if (name.equals(SLOTS)) {
      return Kind.SLOTS;
    }
    if (name.contains("malloc")) {
      return Kind.MALLOC;
    }
    return name.contains("stack") ? Kind.THREAD_STACK : Kind.UNKNOWN;
  }

  private Kind anonymous(int index, Mapping mapping, Kind named) {
    if (named == Kind.CLASS_SPACE || named == Kind.METASPACE || named == Kind.SLOTS) {
      return named;
    }
    if (isTable(mapping)) {
      return Kind.MALLOMETER;
    }
    if (named == Kind.MALLOC) {
      return Kind.MALLOC;
    }
    if (named == Kind.THREAD_STACK || isStack(index, mapping)) {
      return Kind.THREAD_STACK;
    }
    if (isZeroedData(index, mapping)) {
      boolean ours = byName(mappings.get(index - 1).name()) == Kind.MALLOMETER;
      return ours ? Kind.MALLOMETER : Kind.FILE;
    }
    return isStructure(index, mapping) ? Kind.STRUCTURE : Kind.UNKNOWN;
  }

  /**
   * Returns whether a mapping is the native library's tables. The mapping has exactly the size of
   * the tables, because guards keep the kernel from joining it to its neighbours.
   */
  private boolean isTable(Mapping mapping) {
    return mapping.bytes() == tableBytes && mapping.writable();
  }

  private boolean isStack(int index, Mapping mapping) {
    if (!mapping.writable() || mapping.noReserve() || index == 0) {
      return false;
    }
    Mapping below = mappings.get(index - 1);
    return mapping.startsAtEndOf(below)
        && below.anonymous()
        && below.inaccessible()
        && below.bytes() <= LARGEST_GUARD
        && (!below.noReserve() || isWholeStack(below, mapping));
  }

  /**
   * Returns whether a guard and the mapping above it are together as large as a Java thread's
   * stack. The size is needed if the JVM has mapped the guard anew, because such a guard looks like
   * a reservation.
   */
  private boolean isWholeStack(Mapping guard, Mapping stack) {
    return stack.end() - guard.start() == stackBytes.orElse(0);
  }

  private boolean isStructure(int index, Mapping mapping) {
    if (!mapping.committed()) {
      return false;
    }
    boolean below = index > 0 && isReservation(mappings.get(index - 1), mapping);
    boolean above = index + 1 < mappings.size() && isReservation(mappings.get(index + 1), mapping);
    return below || above;
  }

  /**
   * Returns whether a candidate touches a mapping and is a reservation (addresses without memory),
   * but not the unused rest of a heap of malloc.
   */
  private static boolean isReservation(Mapping candidate, Mapping mapping) {
    boolean touches = candidate.startsAtEndOf(mapping) || mapping.startsAtEndOf(candidate);
    return touches && candidate.reserved() && !candidate.name().equals(HEAPS);
  }

  private boolean isZeroedData(int index, Mapping mapping) {
    if (index == 0) {
      return false;
    }
    Mapping below = mappings.get(index - 1);
    long most =
        byName(below.name()) == Kind.MALLOMETER ? LARGEST_OWN_ZEROED_DATA : LARGEST_ZEROED_DATA;
    return mapping.bytes() <= most
        && mapping.startsAtEndOf(below)
        && below.name().startsWith("/")
        && below.writable();
  }

  private static boolean isSharedMemory(String name) {
    return name.startsWith("/dev/shm/")
        || name.startsWith("/SYSV")
        || name.startsWith("/memfd:")
        || name.startsWith("/dev/zero")
        || name.startsWith("[anon_shmem");
  }

  private static boolean inAny(Range[] ranges, Mapping mapping) {
    for (Range range : ranges) {
      if (range.contains(mapping)) {
        return true;
      }
    }
    return false;
  }
}
