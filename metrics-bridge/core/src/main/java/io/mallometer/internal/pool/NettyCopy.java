package io.mallometer.internal.pool;

import io.mallometer.internal.pool.PoolReading.Figures;
import io.mallometer.internal.pool.PoolReading.Tracked;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One copy of Netty in the process.
 *
 * <p>Allocators are found by their classes' defaults and by the chunks of tracked buffers. Sizes
 * are those of Netty's own metrics, which lock an arena for microseconds. A tracked buffer is read
 * once, at the first look that finds it. So a garbage collection is not kept from finding a buffer
 * that was forgotten: later looks only ask whether the weak reference was cleared.
 */
final class NettyCopy {

  /** The names of classes behind the package of a copy. */
  static final class Names {
    static final String BUFFER = ".buffer.AbstractByteBuf";
    static final String DEFAULTS = ".buffer.ByteBufUtil";
    static final String POOLED = ".buffer.PooledByteBufAllocator";
    static final String ADAPTIVE = ".buffer.AdaptiveByteBufAllocator";
    static final String ADAPTIVE_POOL = ".buffer.AdaptivePoolingAllocator";
    static final String ADAPTIVE_CHUNK = ".buffer.AdaptivePoolingAllocator$Chunk";
    static final String ARENA = ".buffer.PoolArena";
    static final String CHUNK = ".buffer.PoolChunk";
    static final String DETECTOR = ".util.ResourceLeakDetector";
    static final String LEVEL = ".util.ResourceLeakDetector$Level";
    static final String TRACKER = ".util.ResourceLeakDetector$DefaultResourceLeak";
    static final String RECORD = ".util.ResourceLeakDetector$TraceRecord";

    static final List<String> ALL =
        List.of(
            BUFFER,
            DEFAULTS,
            POOLED,
            ADAPTIVE,
            ADAPTIVE_POOL,
            ADAPTIVE_CHUNK,
            ARENA,
            CHUNK,
            DETECTOR,
            LEVEL,
            TRACKER,
            RECORD);

    private Names() {}
  }

  private static final String LIBRARY = "Netty";
  private static final String POOLED = "pooled";
  private static final String ADAPTIVE = "adaptive";

  /** The most records of one buffer that are followed to that of its allocation. */
  private static final int MOST_RECORDS = 1_000;

  private final WeakReference<Class<?>> root;
  private final String packageName;
  private final SiteLines lines;

  /** The known buffers by the identity of their trackers. */
  private final Map<Integer, TrackedBuffer> known = new HashMap<>();

  private final List<WeakReference<Object>> pooledAllocators = new ArrayList<>();
  private final List<WeakReference<Object>> adaptivePools = new ArrayList<>();

  NettyCopy(Class<?> root, SiteLines lines) {
    this.root = new WeakReference<>(root);
    String name = root.getName();
    this.packageName = name.substring(0, name.length() - Names.BUFFER.length());
    this.lines = lines;
  }

  boolean isOf(Class<?> other) {
    return root.refersTo(other);
  }

  /** Reads both kinds of pools; those that the program does not use are left out. */
  List<PoolReading> read(Class<?> buffer, List<Class<?>> found, Look look) {
    Members members = new Members(packageName, buffer, found);
    int interval = 0;
    String reason = "";
    Tracked tracked = Tracked.NONE;
    try {
      members.open();
      interval = members.interval();
      if (interval > 0) {
        boolean whole = readBuffers(members, look);
        tracked = tracked(look, whole);
        reason = whole ? "" : "the look ended before all tracked buffers were read";
      } else {
        known.clear();
        reason = "Netty's leak detector is disabled, so no buffer is tracked";
      }
    } catch (Throwable e) {
      interval = 0;
      reason = reason(e);
    }
    List<PoolReading> readings = new ArrayList<>();
    add(POOLED, members, interval, reason, tracked, readings);
    add(ADAPTIVE, members, interval, reason, tracked, readings);
    if (readings.isEmpty() && !reason.isEmpty()) {
      readings.add(reading("", Figures.UNKNOWN, interval, reason, of("", tracked)));
    }
    return readings;
  }

  /** Names the member or the module that prevents the reading. */
  private String reason(Throwable failure) {
    String text = String.valueOf(failure.getMessage());
    return failure instanceof IllegalAccessException
        ? "%s is closed to mallometer: %s".formatted(packageName, text)
        : "this version of Netty is not known: " + failure.getClass().getSimpleName() + ": " + text;
  }

  private void add(
      String kind,
      Members members,
      int interval,
      String reason,
      Tracked tracked,
      List<PoolReading> readings) {
    Figures figures = Figures.UNKNOWN;
    String missing = reason;
    try {
      figures = kind.equals(POOLED) ? pooled(members, tracked) : adaptive(members);
    } catch (Throwable e) {
      missing = missing.isEmpty() ? reason(e) : missing;
    }
    Tracked own = of(kind, tracked);
    if (figures.bytes() > 0 || !own.live().isEmpty()) {
      readings.add(reading(kind, figures, interval, missing, own));
    }
  }

  private PoolReading reading(
      String kind, Figures figures, int interval, String reason, Tracked tracked) {
    return new PoolReading(
        LIBRARY,
        packageName,
        kind,
        figures,
        List.of(packageName + (kind.equals(ADAPTIVE) ? Names.ADAPTIVE_POOL : Names.ARENA)),
        interval,
        reason,
        tracked);
  }

  private static Tracked of(String kind, Tracked all) {
    return new Tracked(
        all.live().stream().filter(one -> one.kind().equals(kind)).toList(),
        all.released().stream().filter(one -> one.kind().equals(kind)).toList(),
        all.complete());
  }

  // ---- Tracked buffers

  /** Reads new buffers. Returns whether the time sufficed for all. */
  private boolean readBuffers(Members members, Look look) throws Throwable {
    MethodHandle head = members.headOfTracker();
    BooleanSupplier isOver = look.timeForBuffers();
    for (Object tracker : members.trackers()) {
      if (isOver.getAsBoolean()) {
        return false;
      }
      TrackedBuffer buffer = known.get(System.identityHashCode(tracker));
      if (buffer == null || !buffer.refersTo(tracker)) {
        buffer = readBuffer(members, head, tracker, look);
      }
      boolean isGarbage = tracker instanceof Reference<?> weak && weak.refersTo(null);
      if (buffer != null && !isGarbage) {
        buffer.seenIn(look);
      }
    }
    return true;
  }

  private @Nullable TrackedBuffer readBuffer(
      Members members, @Nullable MethodHandle head, Object tracker, Look look) throws Throwable {
    Object buffer = ((Reference<?>) tracker).get();
    Object latest = head == null ? null : head.invoke(tracker);
    if (buffer == null || latest == null) {
      return null;
    }
    @Nullable TrackedBuffer read =
        members
            .partOf(buffer)
            .map(
                part -> {
                  noteAllocator(part);
                  return new TrackedBuffer(
                      tracker,
                      line(members, latest),
                      part.bytes(),
                      System.identityHashCode(part.chunk()),
                      part.kind(),
                      look.began());
                })
            .orElse(null);
    if (read != null) {
      known.put(System.identityHashCode(tracker), read);
    }
    return read;
  }

  /** Returns the line of the oldest record of a buffer, which is that of its allocation. */
  private String line(Members members, Object latest) {
    Object oldest = latest;
    for (int i = 0; i < MOST_RECORDS; i++) {
      Object next = members.next(oldest);
      if (next == null || members.next(next) == null) {
        break;
      }
      oldest = next;
    }
    List<StackTraceElement> stack = Arrays.asList(((Throwable) oldest).getStackTrace());
    List<StackTraceElement> callers =
        stack.stream()
            .filter(frame -> !frame.getClassName().startsWith(packageName + "."))
            .toList();
    List<StackTraceElement> shown = callers.isEmpty() ? stack : callers;
    return shown.isEmpty() ? "[unknown]" : lines.lineOf(shown);
  }

  private void noteAllocator(Part part) {
    List<WeakReference<Object>> all = part.kind().equals(POOLED) ? pooledAllocators : adaptivePools;
    Object allocator = part.allocator();
    if (all.stream().noneMatch(one -> one.refersTo(allocator))) {
      all.add(new WeakReference<>(allocator));
    }
  }

  /** Returns what this look saw, and forgets what it did not see. */
  private Tracked tracked(Look look, boolean whole) {
    List<TrackedBuffer> live = new ArrayList<>();
    List<TrackedBuffer> released = new ArrayList<>();
    Iterator<TrackedBuffer> all = known.values().iterator();
    while (all.hasNext()) {
      TrackedBuffer buffer = all.next();
      if (buffer.lastLook() == look.began()) {
        live.add(buffer);
      } else if (whole) {
        released.add(buffer);
        all.remove();
      } else {
        live.add(buffer);
      }
    }
    return new Tracked(live, released, whole);
  }

  // ---- Figures

  private Figures pooled(Members members, Tracked tracked) throws Throwable {
    Set<Object> allocators = Collections.newSetFromMap(new IdentityHashMap<>());
    members.defaultPooled().ifPresent(allocators::add);
    addLive(pooledAllocators, allocators);
    double chunks = 0;
    double bytes = 0;
    double used = 0;
    double inBuffers = 0;
    for (Object allocator : allocators) {
      inBuffers += members.pinned(allocator);
      for (Object arena : members.arenas(allocator)) {
        for (Object list : members.chunkLists(arena)) {
          for (Object chunk : (Iterable<?>) list) {
            double size = members.chunkSize(chunk);
            chunks++;
            bytes += size;
            used += size - members.freeBytes(chunk);
          }
        }
      }
    }
    boolean counts = inBuffers > 0 || tracked.live().isEmpty();
    return new Figures(chunks, bytes, used, counts ? Math.max(0, used - inBuffers) : Double.NaN);
  }

  private Figures adaptive(Members members) throws Throwable {
    Set<Object> pools = Collections.newSetFromMap(new IdentityHashMap<>());
    members.defaultAdaptive().ifPresent(pools::add);
    addLive(adaptivePools, pools);
    double bytes = 0;
    for (Object pool : pools) {
      bytes += members.usedMemory(pool);
    }
    return new Figures(Double.NaN, bytes, Double.NaN, Double.NaN);
  }

  private static void addLive(List<WeakReference<Object>> references, Set<Object> live) {
    references.removeIf(one -> one.refersTo(null));
    for (WeakReference<Object> reference : references) {
      Object object = reference.get();
      if (object != null) {
        live.add(object);
      }
    }
  }

  /** The part of a chunk that a buffer has. */
  record Part(String kind, Object chunk, Object allocator, long bytes) {}

  /** Handles of Netty's members, for one look. */
  private static final class Members {

    private final String packageName;
    private final Class<?> buffer;
    private final Map<String, Class<?>> found = new HashMap<>();
    private final Map<String, MethodHandle> handles = new HashMap<>();
    private @Nullable Object detector;

    Members(String packageName, Class<?> buffer, List<Class<?>> all) {
      this.packageName = packageName;
      this.buffer = buffer;
      for (Class<?> one : all) {
        boolean ofCopy =
            one.getClassLoader() == buffer.getClassLoader()
                && one.getName().startsWith(packageName + ".");
        if (ofCopy) {
          found.put(one.getName().substring(packageName.length()), one);
        }
      }
    }

    /** Finds the leak detector of buffers. */
    void open() throws Throwable {
      detector = staticField(buffer, "leakDetector", needed(Names.DETECTOR)).invoke();
    }

    /** Returns how many buffers stand for a tracked one; 0 if none is tracked. */
    int interval() throws Throwable {
      Class<?> type = needed(Names.DETECTOR);
      Class<?> level = needed(Names.LEVEL);
      Object present =
          lookup(type).findStatic(type, "getLevel", MethodType.methodType(level)).invoke();
      return switch (String.valueOf(present)) {
        case "DISABLED" -> 0;
        case "PARANOID" -> 1;
        default -> (int) field(type, "samplingInterval", int.class).invoke(detector);
      };
    }

    Iterable<?> trackers() throws Throwable {
      return (Iterable<?>) field(needed(Names.DETECTOR), "allLeaks", Set.class).invoke(detector);
    }

    /** Returns null while no buffer was ever tracked. */
    @Nullable MethodHandle headOfTracker() throws ReflectiveOperationException {
      Class<?> tracker = found.get(Names.TRACKER);
      return tracker == null ? null : field(tracker, "head", needed(Names.RECORD));
    }

    @Nullable Object next(Object trace) {
      try {
        return field(needed(Names.RECORD), "next", needed(Names.RECORD)).invoke(trace);
      } catch (Throwable e) {
        throw unreadable(e);
      }
    }

    /** Returns the native part of a chunk that a buffer has; empty for all other buffers. */
    Optional<Part> partOf(Object buffer) throws Throwable {
      for (Class<?> type = buffer.getClass(); type != null; type = type.getSuperclass()) {
        String name = type.getName();
        if (name.equals(packageName + ".buffer.PooledByteBuf")) {
          return pooledPart(type, buffer);
        }
        if (name.equals(packageName + Names.ADAPTIVE_POOL + "$AdaptiveByteBuf")) {
          return adaptivePart(type, buffer);
        }
      }
      return Optional.empty();
    }

    private Optional<Part> pooledPart(Class<?> type, Object buffer) throws Throwable {
      if (!found.containsKey(Names.CHUNK)) {
        return Optional.empty();
      }
      Object chunk = field(type, "chunk", needed(Names.CHUNK)).invoke(buffer);
      Object memory = field(type, "memory", Object.class).invoke(buffer);
      int length = (int) field(type, "length", int.class).invoke(buffer);
      if (chunk == null || memory == null || memory instanceof byte[]) {
        return Optional.empty();
      }
      Object arena = field(needed(Names.CHUNK), "arena", needed(Names.ARENA)).invoke(chunk);
      Object allocator = field(needed(Names.ARENA), "parent", needed(Names.POOLED)).invoke(arena);
      return Optional.of(new Part(POOLED, chunk, allocator, length));
    }

    private Optional<Part> adaptivePart(Class<?> type, Object buffer) throws Throwable {
      if (!found.containsKey(Names.ADAPTIVE_CHUNK)) {
        return Optional.empty();
      }
      Object chunk = field(type, "chunk", needed(Names.ADAPTIVE_CHUNK)).invoke(buffer);
      boolean onHeap = isOnHeap(type, buffer);
      int length = (int) field(type, "length", int.class).invoke(buffer);
      if (chunk == null || onHeap) {
        return Optional.empty();
      }
      Object allocator =
          field(needed(Names.ADAPTIVE_CHUNK), "allocator", needed(Names.ADAPTIVE_POOL))
              .invoke(chunk);
      return Optional.of(new Part(ADAPTIVE, chunk, allocator, length));
    }

    /** Returns whether an adaptive buffer is on the heap. */
    private boolean isOnHeap(Class<?> type, Object buffer) throws Throwable {
      try {
        return (boolean) field(type, "hasArray", boolean.class).invoke(buffer);
      } catch (NoSuchFieldException e) {
        return false;
      }
    }

    Optional<Object> defaultPooled() throws Throwable {
      Class<?> pooled = found.get(Names.POOLED);
      return pooled == null
          ? Optional.empty()
          : Optional.ofNullable(staticField(pooled, "DEFAULT", pooled).invoke());
    }

    /** Returns the pool of native memory of the default allocator if that is an adaptive one. */
    Optional<Object> defaultAdaptive() throws Throwable {
      Class<?> adaptive = found.get(Names.ADAPTIVE);
      Class<?> defaults = found.get(Names.DEFAULTS);
      Class<?> pool = found.get(Names.ADAPTIVE_POOL);
      if (adaptive == null || defaults == null || pool == null) {
        return Optional.empty();
      }
      Class<?> type = superOf(adaptive, ".buffer.ByteBufAllocator");
      Object allocator = staticField(defaults, "DEFAULT_ALLOCATOR", type).invoke();
      return adaptive.isInstance(allocator)
          ? Optional.ofNullable(field(adaptive, "direct", pool).invoke(allocator))
          : Optional.empty();
    }

    double pinned(Object allocator) throws Throwable {
      return (long)
          method(needed(Names.POOLED), "pinnedDirectMemory", long.class).invoke(allocator);
    }

    Iterable<?> arenas(Object allocator) throws Throwable {
      return (Iterable<?>)
          method(needed(Names.POOLED), "directArenas", List.class).invoke(allocator);
    }

    Iterable<?> chunkLists(Object arena) throws Throwable {
      Class<?> metric = superOf(arena.getClass(), ".buffer.PoolArenaMetric");
      return (Iterable<?>) method(metric, "chunkLists", List.class).invoke(arena);
    }

    double chunkSize(Object chunk) throws Throwable {
      return (int) method(metricOf(chunk), "chunkSize", int.class).invoke(chunk);
    }

    double freeBytes(Object chunk) throws Throwable {
      return (int) method(metricOf(chunk), "freeBytes", int.class).invoke(chunk);
    }

    private Class<?> metricOf(Object chunk) throws ReflectiveOperationException {
      return superOf(chunk.getClass(), ".buffer.PoolChunkMetric");
    }

    double usedMemory(Object pool) throws Throwable {
      return (long) method(needed(Names.ADAPTIVE_POOL), "usedMemory", long.class).invoke(pool);
    }

    private Class<?> needed(String name) throws ClassNotFoundException {
      Class<?> type = found.get(name);
      if (type == null) {
        throw new ClassNotFoundException(packageName + name + " is not in use");
      }
      return type;
    }

    /** Returns a superclass or an interface of a class; none is loaded for that. */
    private Class<?> superOf(Class<?> type, String name) throws ClassNotFoundException {
      Class<?> known = superOrNull(type, packageName + name);
      if (known == null) {
        throw new ClassNotFoundException(type.getName() + " is no " + packageName + name);
      }
      return known;
    }

    private static @Nullable Class<?> superOrNull(@Nullable Class<?> type, String name) {
      if (type == null || type.getName().equals(name)) {
        return type;
      }
      Class<?> known = superOrNull(type.getSuperclass(), name);
      for (Class<?> face : type.getInterfaces()) {
        known = known == null ? superOrNull(face, name) : known;
      }
      return known;
    }

    private MethodHandles.Lookup lookup(Class<?> type) throws IllegalAccessException {
      return MethodHandles.privateLookupIn(type, MethodHandles.lookup());
    }

    private MethodHandle staticField(Class<?> type, String name, Class<?> ofType)
        throws ReflectiveOperationException {
      return lookup(type).findStaticGetter(type, name, ofType);
    }

    private MethodHandle field(Class<?> type, String name, Class<?> ofType)
        throws ReflectiveOperationException {
      String key = type.getName() + "." + name;
      MethodHandle handle = handles.get(key);
      if (handle == null) {
        handle = generic(lookup(type).findGetter(type, name, ofType));
        handles.put(key, handle);
      }
      return handle;
    }

    private MethodHandle method(Class<?> type, String name, Class<?> result)
        throws ReflectiveOperationException {
      String key = type.getName() + "." + name;
      MethodHandle handle = handles.get(key);
      if (handle == null) {
        handle = generic(lookup(type).findVirtual(type, name, MethodType.methodType(result)));
        handles.put(key, handle);
      }
      return handle;
    }

    /** Takes and returns any object: the types of an application stay out of the calls. */
    private static MethodHandle generic(MethodHandle handle) {
      return handle.asType(MethodType.methodType(Object.class, Object.class));
    }

    private static IllegalStateException unreadable(Throwable cause) {
      return new IllegalStateException("a record of a buffer cannot be read: " + cause, cause);
    }
  }
}
