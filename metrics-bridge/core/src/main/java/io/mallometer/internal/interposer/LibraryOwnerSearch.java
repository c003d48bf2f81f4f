package io.mallometer.internal.interposer;

import io.mallometer.internal.owner.HeapGraph;
import io.mallometer.internal.owner.HeapGraph.HeapObject;
import io.mallometer.internal.owner.HeapGraph.Hold;
import io.mallometer.internal.owner.HeapGraph.Kind;
import io.mallometer.internal.owner.HeapGraph.Link;
import io.mallometer.internal.owner.HeapGraph.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** A search by the library. */
final class LibraryOwnerSearch implements OwnerSearch {

  private static final int NAME_BYTES = 512;
  private static final int MOST_SAMPLES = 4_096;
  private static final int NO_DATA = 61;

  /** {@code jvmtiHeapReferenceKind}. */
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

  private final ByteBuffer figures = Structs.allocate(OwnerLayout.BYTES);
  private final ByteBuffer name = Structs.allocate(NAME_BYTES);
  private final Map<Integer, String> names = new HashMap<>();
  private final Figures begun;

  private LibraryOwnerSearch(int site) {
    this.begun = figures(call(() -> LibraryFunctions.mallometer_owners_begin(site, address())));
  }

  /** Begins one; to be closed. */
  static OwnerSearch begin(int site) {
    LibraryOwnerSearch search = new LibraryOwnerSearch(site);
    return search.begun.failure().isEmpty() ? search : OwnerSearch.none(search.begun.failure());
  }

  private long address() {
    return Structs.address(figures);
  }

  private int call(IntSupplier function) {
    figures.putInt(OwnerLayout.SIZE, OwnerLayout.BYTES);
    return function.getAsInt();
  }

  private Figures figures(int result) {
    if (result != 0) {
      return Figures.none(reason(-result));
    }
    return new Figures(
        "",
        figures.getInt(OwnerLayout.SAMPLES),
        figures.getInt(OwnerLayout.SAMPLES_LEFT_OUT),
        figures.getInt(OwnerLayout.POINTERS),
        figures.getInt(OwnerLayout.LEFT_OUT),
        figures.getInt(OwnerLayout.NEXT_OBJECTS),
        figures.getInt(OwnerLayout.NEXT_CLASSES),
        figures.getLong(OwnerLayout.WALK_NS) / 1e9);
  }

  private static String reason(int error) {
    return switch (error) {
      case 1 ->
          "native memory cannot be read here: process_vm_readv is refused, or the machine is too"
              + " busy to try it out";
      case 3 -> "this JVM is not there, or has ended";
      case 12 -> "there is no memory for the search, or the JVM has none for its walk";
      case 16 -> "another search is under way";
      case 38 -> "the library is older than its bridge and cannot search the heap";
      case NO_DATA -> "the site has no live samples";
      case 95 -> "this JVM refuses its tools interface (can_tag_objects)";
      default -> "the JVM did not do it: errno " + error;
    };
  }

  @Override
  public Figures begun() {
    return begun;
  }

  @Override
  public Figures step(Step step) {
    int result = call(() -> LibraryFunctions.mallometer_owners_step(1 + step.ordinal(), address()));
    return step == Step.REFERRERS && result == -NO_DATA
        ? Figures.none("the objects on the way are gone")
        : figures(result);
  }

  @Override
  public void close() {
    LibraryFunctions.mallometer_owners_end();
  }

  // ---- Rows

  @Override
  public HeapGraph graph() {
    Map<Integer, List<Link>> links = new HashMap<>();
    ByteBuffer rows =
        rows(OwnerLayout.LINK_ROWS, OwnerLayout.LINK_BYTES, figures.getInt(OwnerLayout.LINKS));
    for (int at = 0; at < rows.limit(); at += OwnerLayout.LINK_BYTES) {
      links
          .computeIfAbsent(rows.getInt(at + OwnerLayout.LINK_OBJECT), object -> new ArrayList<>())
          .add(link(rows, at));
    }
    List<Hold> holds = holds();
    int freedSince =
        (int) holds.stream().filter(Hold::freed).mapToInt(Hold::sample).distinct().count();
    return new HeapGraph(
        figures.getInt(OwnerLayout.SAMPLES),
        Math.max(freedSince, figures.getInt(OwnerLayout.SAMPLES_FREED)),
        holds,
        objects(links));
  }

  /** The buffer ends behind the last row. */
  private static ByteBuffer rows(int kind, int bytes, int count) {
    ByteBuffer rows = Structs.allocate(Math.max(1, count) * bytes);
    int copied = LibraryFunctions.mallometer_owners_rows(kind, Structs.address(rows), bytes, count);
    return rows.limit(Math.max(0, copied) * bytes);
  }

  private List<Hold> holds() {
    List<Hold> holds = new ArrayList<>();
    ByteBuffer rows =
        rows(OwnerLayout.HOLD_ROWS, OwnerLayout.HOLD_BYTES, figures.getInt(OwnerLayout.HOLDS));
    for (int at = 0; at < rows.limit(); at += OwnerLayout.HOLD_BYTES) {
      @Nullable String field = name(rows.getInt(at + OwnerLayout.HOLD_FIELD_NAME));
      holds.add(
          new Hold(
              rows.getInt(at + OwnerLayout.HOLD_SAMPLE),
              rows.getInt(at + OwnerLayout.HOLD_FREED) != 0,
              rows.getInt(at + OwnerLayout.HOLD_OBJECT),
              nameOr(rows.getInt(at + OwnerLayout.HOLD_CLASS_NAME)),
              field == null ? "" : field,
              rows.getInt(at + OwnerLayout.HOLD_STEPS)));
    }
    return holds;
  }

  private List<HeapObject> objects(Map<Integer, List<Link>> links) {
    List<HeapObject> objects = new ArrayList<>();
    ByteBuffer rows =
        rows(
            OwnerLayout.OBJECT_ROWS, OwnerLayout.OBJECT_BYTES, figures.getInt(OwnerLayout.OBJECTS));
    for (int at = 0; at < rows.limit(); at += OwnerLayout.OBJECT_BYTES) {
      int flags = rows.getInt(at + OwnerLayout.OBJECT_FLAGS);
      objects.add(
          new HeapObject(
              nameOr(rows.getInt(at + OwnerLayout.OBJECT_CLASS_NAME)),
              kind(rows.getInt(at + OwnerLayout.OBJECT_KINDS)),
              (flags & OwnerLayout.FLAG_FOLLOWED) != 0,
              (flags & OwnerLayout.FLAG_EXPANDED) != 0,
              (flags & OwnerLayout.FLAG_MORE) != 0,
              (flags & OwnerLayout.FLAG_REACHED) != 0,
              links.getOrDefault(objects.size(), List.of())));
    }
    return objects;
  }

  private static Kind kind(int kinds) {
    if ((kinds & OwnerLayout.KIND_CLASS) != 0) {
      return Kind.CLASS;
    }
    if ((kinds & OwnerLayout.KIND_THREAD) != 0) {
      return Kind.THREAD;
    }
    if ((kinds & OwnerLayout.KIND_SOFT) != 0) {
      return Kind.SOFT;
    }
    if ((kinds & OwnerLayout.KIND_PHANTOM) != 0) {
      return Kind.PHANTOM;
    }
    if ((kinds & OwnerLayout.KIND_FINAL) != 0) {
      return Kind.FINAL;
    }
    return (kinds & OwnerLayout.KIND_REFERENCE) != 0 ? Kind.WEAK : Kind.OTHER;
  }

  private Link link(ByteBuffer rows, int at) {
    int referrer = rows.getInt(at + OwnerLayout.LINK_REFERRER);
    Reference reference =
        REFERENCES.getOrDefault(rows.getInt(at + OwnerLayout.LINK_KIND), Reference.OTHER);
    boolean isRoot = referrer == HeapGraph.NONE && reference == Reference.OTHER;
    return new Link(
        referrer,
        isRoot ? Reference.ROOT : reference,
        name(rows.getInt(at + OwnerLayout.LINK_NAME)));
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
    if (result != 0) {
      return "?";
    }
    byte[] bytes = new byte[NAME_BYTES];
    name.get(0, bytes);
    int end = 0;
    while (end < NAME_BYTES && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }
}
