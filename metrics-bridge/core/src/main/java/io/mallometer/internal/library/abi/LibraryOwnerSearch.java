package io.mallometer.internal.library.abi;

import io.mallometer.internal.library.HeapGraph;
import io.mallometer.internal.library.HeapGraph.HeapObject;
import io.mallometer.internal.library.HeapGraph.Hold;
import io.mallometer.internal.library.HeapGraph.Kind;
import io.mallometer.internal.library.HeapGraph.Link;
import io.mallometer.internal.library.HeapGraph.Reference;
import io.mallometer.internal.library.OwnerSearch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the library search the Java heap for the objects that hold native memory. */
final class LibraryOwnerSearch implements OwnerSearch {

  private static final int NAME_BYTES = 512;
  private static final int MOST_SAMPLES = 4_096;

  /** The kinds of references by the value of {@code jvmtiHeapReferenceKind}. */
  private static final Map<Integer, Reference> REFERENCES =
      Map.of(
          2, Reference.FIELD,
          3, Reference.ELEMENT,
          8, Reference.STATIC,
          21, Reference.JNI_GLOBAL,
          23, Reference.MONITOR,
          24, Reference.LOCAL,
          25, Reference.JNI_LOCAL,
          26, Reference.THREAD);

  private final Abi.Owners figures = new Abi.Owners(Structs.keep(Abi.Owners.BYTES));
  private final long address = Structs.address(figures.memory());
  private final ByteBuffer name = Structs.keep(NAME_BYTES);
  private final Map<Integer, String> names = new HashMap<>();
  private final Figures begun;
  private boolean freed;

  private LibraryOwnerSearch(int site) {
    this.begun = figures(LibraryFunctions.mallometer_owners_begin(site, address));
  }

  static OwnerSearch begin(int site) {
    LibraryOwnerSearch search = new LibraryOwnerSearch(site);
    if (search.begun.failure().isEmpty()) {
      return search;
    }
    search.free();
    return OwnerSearch.none(search.begun.failure());
  }

  private Figures figures(int result) {
    if (result != 0) {
      return Figures.none(reason(result));
    }
    return new Figures(
        "",
        figures.samples(),
        figures.samplesLeftOut(),
        figures.pointers(),
        figures.leftOut(),
        figures.nextObjects(),
        figures.nextClasses(),
        figures.walkNs() / 1e9);
  }

  private static String reason(int error) {
    return switch (error) {
      case Errno.EPERM ->
          "native memory cannot be read here: process_vm_readv is refused, or the machine is too"
              + " busy to try it out";
      case Errno.ESRCH -> "this JVM is not there, or has ended";
      case Errno.ENOMEM -> "there is no memory for the search, or the JVM has none for its walk";
      case Errno.EBUSY -> "another search is under way";
      case Errno.ENODATA -> "the site has no live samples";
      case Errno.ENOTSUP -> "this JVM refuses JVMTI (can_tag_objects)";
      default -> "the JVM did not do it: errno " + -error;
    };
  }

  @Override
  public Figures begun() {
    return begun;
  }

  @Override
  public Figures step(Step step) {
    int result = LibraryFunctions.mallometer_owners_step(number(step), address);
    return step == Step.REFERRERS && result == Errno.ENODATA
        ? Figures.none("the objects on the way are gone")
        : figures(result);
  }

  private static int number(Step step) {
    return switch (step) {
      case HOLDERS -> Abi.OWNERS_HOLDERS;
      case POINTERS -> Abi.OWNERS_POINTERS;
      case POINTER_HOLDERS -> Abi.OWNERS_POINTER_HOLDERS;
      case REFERRERS -> Abi.OWNERS_REFERRERS;
    };
  }

  @Override
  public void close() {
    LibraryFunctions.mallometer_owners_end();
    free();
  }

  private void free() {
    if (!freed) {
      freed = true;
      Structs.free(figures.memory());
      Structs.free(name);
    }
  }

  // ---- Reading the graph

  @Override
  public HeapGraph graph() {
    Map<Integer, List<Link>> byObject =
        Structs.with(figures.links() * Abi.HeapLink.BYTES, this::links);
    List<Hold> holds = Structs.with(figures.holds() * Abi.Hold.BYTES, this::holds);
    int freedSince =
        (int) holds.stream().filter(Hold::freed).mapToInt(Hold::sample).distinct().count();
    return new HeapGraph(
        figures.samples(),
        Math.max(freedSince, figures.samplesFreed()),
        holds,
        Structs.with(figures.objects() * Abi.HeapObject.BYTES, rows -> objects(rows, byObject)));
  }

  private Map<Integer, List<Link>> links(ByteBuffer rows) {
    Map<Integer, List<Link>> byObject = new HashMap<>();
    int links = copy(Abi.OWNERS_LINKS, rows, figures.links());
    for (int i = 0; i < links; i++) {
      Abi.HeapLink row = Abi.HeapLink.row(rows, i);
      byObject.computeIfAbsent(row.object(), object -> new ArrayList<>()).add(link(row));
    }
    return byObject;
  }

  private static int copy(int kind, ByteBuffer rows, int count) {
    return Math.max(0, LibraryFunctions.mallometer_owners_rows(kind, Structs.address(rows), count));
  }

  private List<Hold> holds(ByteBuffer rows) {
    List<Hold> holds = new ArrayList<>();
    int count = copy(Abi.OWNERS_HOLDS, rows, figures.holds());
    for (int i = 0; i < count; i++) {
      Abi.Hold row = Abi.Hold.row(rows, i);
      @Nullable String field = name(row.fieldName());
      holds.add(
          new Hold(
              row.sample(),
              row.freed() != 0,
              row.object(),
              nameOr(row.className()),
              field == null ? "" : field,
              row.steps()));
    }
    return holds;
  }

  private List<HeapObject> objects(ByteBuffer rows, Map<Integer, List<Link>> links) {
    List<HeapObject> objects = new ArrayList<>();
    int count = copy(Abi.OWNERS_OBJECTS, rows, figures.objects());
    for (int i = 0; i < count; i++) {
      Abi.HeapObject row = Abi.HeapObject.row(rows, i);
      int flags = row.flags();
      objects.add(
          new HeapObject(
              nameOr(row.className()),
              kind(row.kinds()),
              (flags & Abi.HEAP_OBJECT_FOLLOWED) != 0,
              (flags & Abi.HEAP_OBJECT_EXPANDED) != 0,
              (flags & Abi.HEAP_OBJECT_MORE) != 0,
              (flags & Abi.HEAP_OBJECT_REACHED) != 0,
              links.getOrDefault(i, List.of())));
    }
    return objects;
  }

  private static Kind kind(int kinds) {
    if ((kinds & Abi.HEAP_OBJECT_CLASS) != 0) {
      return Kind.CLASS;
    }
    if ((kinds & Abi.HEAP_OBJECT_THREAD) != 0) {
      return Kind.THREAD;
    }
    if ((kinds & Abi.HEAP_OBJECT_SOFT) != 0) {
      return Kind.SOFT;
    }
    if ((kinds & Abi.HEAP_OBJECT_PHANTOM) != 0) {
      return Kind.PHANTOM;
    }
    if ((kinds & Abi.HEAP_OBJECT_FINAL) != 0) {
      return Kind.FINAL;
    }
    return (kinds & Abi.HEAP_OBJECT_REFERENCE) != 0 ? Kind.WEAK : Kind.OTHER;
  }

  private Link link(Abi.HeapLink row) {
    int referrer = row.referrer();
    Reference reference = REFERENCES.getOrDefault(row.kind(), Reference.OTHER);
    boolean isRoot = referrer == HeapGraph.NONE && reference == Reference.OTHER;
    return new Link(referrer, isRoot ? Reference.ROOT : reference, name(row.name()));
  }

  private String nameOr(int number) {
    @Nullable String known = name(number);
    return known == null ? "?" : known;
  }

  private @Nullable String name(int number) {
    return number == HeapGraph.NONE ? null : names.computeIfAbsent(number, this::read);
  }

  private String read(int number) {
    int result = LibraryFunctions.mallometer_owners_name(number, Structs.address(name), NAME_BYTES);
    return result == 0 ? Structs.text(name, 0, NAME_BYTES) : "?";
  }
}
