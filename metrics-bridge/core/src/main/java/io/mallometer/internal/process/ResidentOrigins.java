package io.mallometer.internal.process;

import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.process.MappingKinds.Kind;
import io.mallometer.model.CallSite;
import io.mallometer.model.ResidentPart;
import io.mallometer.model.ResidentStacks.ResidentStack;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Attributes the resident bytes to the code that requested them.
 *
 * <p>The stack of a {@link Piece} of memory begins with a frame for its kind. The frames of the
 * call that mapped the piece follow if the library recorded the call. The stack of a mapped file
 * has the name of the file instead.
 *
 * <p>Each call site of malloc gets its live bytes that are resident. The rest of malloc's resident
 * memory gets one further stack, because this memory is retained, or its call sites were not
 * sampled.
 */
final class ResidentOrigins {

  private static final String MAPPED = "mapped";

  private static final String WITHOUT_SITE = "without a call site";

  private static final String RETAINED = "free or unsampled";
  private static final String BEFORE = "mapped before counting began";

  private final Map<List<StackFrame>, Long> bytes = new LinkedHashMap<>();
  private final long ownBytes;
  private final boolean attached;
  private long malloc;
  private long slots;
  private long unknown;

  private ResidentOrigins(long ownBytes, boolean attached) {
    this.ownBytes = ownBytes;
    this.attached = attached;
  }

  /**
   * Returns the stacks, most bytes first.
   *
   * @param unlistedBytes an upper bound of the bytes that mallometer's library has at unknown
   *     addresses
   * @param sites the call sites of malloc
   * @param attached whether the library was attached after the program had started, so that it
   *     recorded no earlier mappings
   */
  static List<ResidentStack> of(
      List<Piece> pieces,
      long unlistedBytes,
      List<CallSite> sites,
      MallocFacts facts,
      boolean attached) {
    ResidentOrigins origins = new ResidentOrigins(unlistedBytes, attached);
    for (Piece piece : pieces) {
      if (piece.mapping().residentBytes() > 0) {
        origins.add(piece.mapping(), piece.kind(), piece.range(), facts.glibc());
      }
    }
    origins.divideSlots(facts.slots().excessBytes());
    origins.divideUnknown();
    origins.divideMalloc(sites);
    return origins.stacks();
  }

  private void add(Mapping piece, Kind kind, Optional<MappedRange> range, boolean glibc) {
    long resident = piece.residentBytes();
    if (kind == Kind.MALLOMETER) {
      add(resident, ResidentPart.MALLOMETER.tag(), List.of());
    } else if (kind == Kind.SLOTS) {
      slots += resident;
    } else if (kind == Kind.MALLOC) {
      malloc += resident;
    } else if (range.isPresent()) {
      List<StackFrame> frames = range.get().frames();
      add(resident, nameOf(kind), frames.isEmpty() ? List.of(frame(WITHOUT_SITE)) : frames);
    } else if (kind == Kind.FILE || kind == Kind.SHARED_MEMORY) {
      String file = piece.name().substring(piece.name().lastIndexOf('/') + 1);
      add(resident, nameOf(kind), List.of(frame(file.isEmpty() ? "zeroed data" : file)));
    } else if (kind != Kind.UNKNOWN) {
      // Memory from before an attach gets the frame BEFORE. Thread stacks do not get it, because
      // even a preloaded library does not see them: the C library maps them without calling a hook.
      boolean before = attached && kind != Kind.THREAD_STACK;
      add(resident, nameOf(kind), before ? List.of(frame(BEFORE)) : List.of());
    } else if (glibc) {
      unknown += resident;
    } else {
      malloc += resident;
    }
  }

  private static String nameOf(Kind kind) {
    return kind == Kind.UNKNOWN ? MAPPED : kind.part.tag();
  }

  private void divideSlots(long excessBytes) {
    long excess = Math.min(slots, excessBytes);
    add(excess, ResidentPart.MALLOMETER.tag(), List.of());
    malloc += slots - excess;
  }

  /**
   * Attributes memory of unknown kind to the native library, up to the bytes that the library may
   * have at unknown addresses.
   */
  private void divideUnknown() {
    long own = Math.min(unknown, ownBytes);
    add(own, ResidentPart.MALLOMETER.tag(), List.of());
    add(unknown - own, attached ? BEFORE : ResidentPart.UNEXPLAINED.tag(), List.of());
  }

  /**
   * Divides malloc's memory among its call sites. Uses the live bytes of a site if its resident
   * bytes are unknown.
   */
  private void divideMalloc(List<CallSite> sites) {
    double all = 0;
    for (CallSite site : sites) {
      all += residentBytes(site);
    }
    double share = all > malloc ? malloc / all : 1;
    long rest = malloc;
    for (CallSite site : sites) {
      long ofSite = Math.min(rest, Math.round(share * residentBytes(site)));
      List<StackFrame> frames = site.frames();
      add(
          ofSite,
          ResidentPart.MALLOC.tag(),
          frames.isEmpty() ? List.of(frame(WITHOUT_SITE)) : frames);
      rest -= ofSite;
    }
    add(rest, ResidentPart.MALLOC.tag(), List.of(frame(RETAINED)));
  }

  private static double residentBytes(CallSite site) {
    double resident = site.residentBytes().value();
    return Double.isNaN(resident) ? site.liveBytes().value() : resident;
  }

  private static StackFrame frame(String name) {
    return StackFrame.ofLibrary("[" + name + "]", "", 0);
  }

  private void add(long resident, String kind, List<StackFrame> frames) {
    if (resident > 0) {
      List<StackFrame> stack = new ArrayList<>(frames);
      stack.add(frame(kind));
      bytes.merge(stack, resident, Long::sum);
    }
  }

  private List<ResidentStack> stacks() {
    List<ResidentStack> stacks = new ArrayList<>();
    bytes.forEach((frames, resident) -> stacks.add(new ResidentStack(frames, resident)));
    stacks.sort(Comparator.comparingLong((ResidentStack stack) -> -stack.bytes()));
    return stacks;
  }
}
