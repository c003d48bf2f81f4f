package io.mallometer.internal.pool;

import io.mallometer.internal.pool.PoolReading.Tracked;
import io.mallometer.internal.pool.TrackedBuffer.Part;
import io.mallometer.model.PoolReport.Amounts;
import io.mallometer.model.PoolReport.PoolOrigin;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the pools of one copy of Netty in the process.
 *
 * <p>Finds allocators in the static defaults of their classes and in the chunks of tracked buffers.
 * Takes sizes from Netty's own metrics, which lock an arena for microseconds. Reads a tracked
 * buffer once. Later readings check only its weak reference, so that a garbage collection can free
 * a forgotten buffer.
 *
 * <p>Reading the stack of a tracked buffer allocates some kilobytes in the application's heap, so
 * at most {@value #MOST_KNOWN} buffers are known. If there are more, only one tracked buffer in two
 * is read, later one in four. A buffer that is read then stands for two or four buffers.
 */
final class NettyCopy {

  /**
   * The names of Netty's classes without the beginning of the package, which differs between
   * copies.
   */
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

  /**
   * A buffer's access records form a list, the latest first. The search for the record of the
   * allocation follows at most this many of them.
   */
  private static final int MOST_RECORDS = 1_000;

  /**
   * The largest number of tracked buffers that are stored. If there are more, only a part of them
   * is read.
   */
  private static final int MOST_KNOWN = 2_000;

  /**
   * The search for new buffers goes through Netty's trackers, one for each tracked buffer. It
   * checks the CPU time once for this many trackers, and before it reads a new buffer.
   */
  private static final int TRACKERS_OF_A_TICK = 64;

  /** The kind of a buffer that uses no part of a native chunk. */
  private static final String NONE = "none";

  private static final Part NO_PART = new Part(NONE, null, null, 0);

  private static final String UNKNOWN_LINE = "[unknown]";

  private final WeakReference<Class<?>> root;
  private final String packageName;

  /**
   * Chooses the line of code that names an allocation, from a stack with its innermost frame first.
   */
  private final Function<List<StackTraceElement>, String> lines;

  /** The buffers that were read, by the identity hash code of their trackers. */
  private final Map<Integer, TrackedBuffer> known = new HashMap<>();

  private final Map<String, String> texts = new HashMap<>();

  /**
   * The buffers that were dropped without release, by the kind of the pool and the line of code.
   */
  private final Map<String, Forgotten> forgotten = new LinkedHashMap<>();

  private final List<WeakReference<Object>> pooledAllocators = new ArrayList<>();
  private final List<WeakReference<Object>> adaptivePools = new ArrayList<>();

  /**
   * The method handles, which refer to classes of the application. The weak reference lets a
   * garbage collection free them.
   */
  private WeakReference<Members> handles = new WeakReference<>(null);

  /** Reads one in this many trackers, a power of two. */
  private int oneIn = 1;

  /**
   * Whether the previous reading read all tracked buffers. If it did, buffers that the next reading
   * finds are certainly new.
   */
  private boolean sawAll;

  NettyCopy(Class<?> root, Function<List<StackTraceElement>, String> lines) {
    this.root = new WeakReference<>(root);
    String name = root.getName();
    this.packageName = name.substring(0, name.length() - Names.BUFFER.length());
    this.lines = lines;
  }

  boolean isOf(Class<?> other) {
    return root.refersTo(other);
  }

  /**
   * Reads the pooled and the adaptive allocators that the program uses.
   *
   * @param wanted N, if the leak detector is to track one in N buffers; 0 leaves the detector as it
   *     is
   */
  List<PoolReading> read(Class<?> buffer, List<Class<?>> found, int wanted, Look look) {
    Members members = members(buffer, found);
    int interval = 0;
    String reason = "";
    Tracked tracked = Tracked.NONE;
    try {
      members.open();
      interval = members.interval();
      if (interval > 0) {
        tracked = readBuffers(members, interval, look);
        sawAll = tracked.complete();
        reason = sawAll ? "" : "the look ended before all tracked buffers were read";
        // The interval changes only after all tracked buffers were read, because a buffer that is
        // read later would be weighted with the new interval.
        if (sawAll && interval > 1 && wanted > 0 && interval != wanted) {
          reason = failureToTrack(members, wanted);
        }
      } else {
        known.clear();
        sawAll = false;
        reason = "Netty's leak detector is disabled, so no buffer is tracked";
      }
    } catch (Throwable e) {
      interval = 0;
      sawAll = false;
      reason = reason(e);
    }
    List<PoolReading> readings = new ArrayList<>();
    add(POOLED, () -> pooled(members, look), interval, reason, tracked, readings);
    add(ADAPTIVE, () -> adaptive(members), interval, reason, tracked, readings);
    if (readings.isEmpty() && !reason.isEmpty()) {
      readings.add(reading("", Amounts.UNKNOWN, interval, reason, tracked.of("")));
    }
    return readings;
  }

  private static String failureToTrack(Members members, int interval) {
    try {
      members.track(interval);
      return "";
    } catch (ReflectiveOperationException | RuntimeException e) {
      return "the sampling interval cannot be set: " + e.getMessage();
    }
  }

  private Members members(Class<?> buffer, List<Class<?>> found) {
    Members members = handles.get();
    if (members == null) {
      members = new Members(packageName, buffer);
      handles = new WeakReference<>(members);
    }
    members.know(found);
    return members;
  }

  private String reason(Throwable failure) {
    String text = String.valueOf(failure.getMessage());
    if (failure instanceof TimeoutException) {
      return text;
    }
    return failure instanceof IllegalAccessException
        ? "%s is closed to mallometer: %s".formatted(packageName, text)
        : "this version of Netty is not known: " + failure.getClass().getSimpleName() + ": " + text;
  }

  private void add(
      String kind,
      Sizes sizes,
      int interval,
      String reason,
      Tracked tracked,
      List<PoolReading> readings) {
    Amounts amounts = Amounts.UNKNOWN;
    String missing = reason;
    boolean failed = false;
    try {
      amounts = sizes.read();
    } catch (Throwable e) {
      failed = true;
      missing = missing.isEmpty() ? reason(e) : missing;
    }
    Tracked own = tracked.of(kind);
    if (failed || amounts.bytes() > 0 || !own.live().isEmpty() || !own.forgotten().isEmpty()) {
      readings.add(reading(kind, amounts, interval, missing, own));
    }
  }

  private PoolReading reading(
      String kind, Amounts amounts, int interval, String reason, Tracked tracked) {
    return new PoolReading(
        new PoolOrigin(LIBRARY, packageName, kind),
        amounts,
        List.of(packageName + (kind.equals(ADAPTIVE) ? Names.ADAPTIVE_POOL : Names.ARENA)),
        interval,
        reason,
        tracked);
  }

  // ---- Reading tracked buffers

  private Tracked readBuffers(Members members, int interval, Look look) throws Throwable {
    Set<?> trackers = members.trackers();
    List<TrackedBuffer> released = takeGone(trackers, look);
    boolean whole = readNew(members, trackers, interval, look);
    List<TrackedBuffer> live = List.copyOf(known.values());
    texts.keySet().retainAll(live.stream().map(TrackedBuffer::line).collect(Collectors.toSet()));
    String source = packageName + " " + System.identityHashCode(this) + " " + oneIn;
    return new Tracked(live, released, List.copyOf(forgotten.values()), source, oneIn, whole);
  }

  /**
   * Removes the known buffers that are no longer live, and returns those that were released. Netty
   * first removes the tracker of a released buffer from its set of trackers and then clears the
   * tracker. So a cleared tracker that is still in the set belongs to a buffer that was dropped
   * without a release.
   */
  private List<TrackedBuffer> takeGone(Set<?> trackers, Look look) {
    List<TrackedBuffer> released = new ArrayList<>();
    Iterator<TrackedBuffer> all = known.values().iterator();
    while (all.hasNext()) {
      TrackedBuffer buffer = all.next();
      Object tracker = buffer.get();
      boolean isCleared = tracker instanceof Reference<?> weak && weak.refersTo(null);
      boolean isTracked = tracker != null && trackers.contains(tracker);
      if (isTracked && !isCleared) {
        buffer.seenIn(look);
        continue;
      }
      all.remove();
      if (isTracked) {
        forget(buffer);
      } else {
        released.add(buffer);
      }
    }
    return released;
  }

  private void forget(TrackedBuffer buffer) {
    if (!buffer.kind().equals(NONE)) {
      forgotten.merge(
          buffer.kind() + " " + buffer.line(),
          Forgotten.one(buffer, oneIn),
          (sum, one) -> sum.plus(one));
    }
  }

  /** Reads new buffers. Returns false if the CPU time was not enough for all of them. */
  private boolean readNew(Members members, Set<?> trackers, int interval, Look look)
      throws Throwable {
    MethodHandle head = members.headOfTracker();
    BooleanSupplier isOver = look.time();
    int seen = 0;
    for (Object tracker : trackers) {
      if (seen++ % TRACKERS_OF_A_TICK == 0 && isOver.getAsBoolean()) {
        return false;
      }
      if (isNew(tracker)) {
        if (isOver.getAsBoolean()) {
          return false;
        }
        readBuffer(members, head, tracker, interval, look);
      }
    }
    return true;
  }

  private boolean isNew(Object tracker) {
    int identity = System.identityHashCode(tracker);
    if (!isDrawn(identity)) {
      return false;
    }
    TrackedBuffer buffer = known.get(identity);
    return buffer == null || !buffer.refersTo(tracker);
  }

  private boolean isDrawn(int identity) {
    return (identity & oneIn - 1) == 0;
  }

  private void readBuffer(
      Members members, @Nullable MethodHandle head, Object tracker, int interval, Look look)
      throws Throwable {
    Object buffer = ((Reference<?>) tracker).get();
    Object latest = head == null ? null : head.invoke(tracker);
    if (buffer == null || latest == null) {
      return;
    }
    Optional<Part> part = members.partOf(buffer);
    TrackedBuffer read =
        part.isPresent()
            ? new TrackedBuffer(
                tracker, line(members, latest), part.get(), interval, look.began(), sawAll)
            : new TrackedBuffer(tracker, UNKNOWN_LINE, NO_PART, interval, look.began(), sawAll);
    part.ifPresent(this::noteAllocator);
    read.seenIn(look);
    known.put(System.identityHashCode(tracker), read);
    if (known.size() > MOST_KNOWN && oneIn < 1 << 20) {
      oneIn *= 2;
      known.keySet().removeIf(identity -> !isDrawn(identity));
    }
  }

  /**
   * Returns the line of code that allocated a buffer. The line is in the stack of the buffer's
   * oldest record.
   */
  private String line(Members members, Object latest) {
    Object oldest = latest;
    for (int i = 0; i < MOST_RECORDS; i++) {
      Object next = members.next(oldest);
      if (next == null || members.next(next) == null) {
        break;
      }
      oldest = next;
    }
    List<StackTraceElement> stack =
        callers(packageName, Arrays.asList(((Throwable) oldest).getStackTrace()));
    String line = stack.isEmpty() ? UNKNOWN_LINE : lines.apply(stack);
    return texts.computeIfAbsent(line, text -> text);
  }

  /**
   * Returns the frames outside of Netty, by which an allocation may be named. If all of them are of
   * the JDK, as in an event loop, returns the first frame of Netty that is outside of its packages
   * {@code buffer} and {@code util}.
   */
  static List<StackTraceElement> callers(String packageName, List<StackTraceElement> stack) {
    List<StackTraceElement> callers =
        stack.stream().filter(frame -> !isIn(frame, packageName + ".")).toList();
    if (callers.stream().anyMatch(frame -> !isIn(frame, "java.", "javax.", "jdk.", "sun."))) {
      return callers;
    }
    List<StackTraceElement> ofNetty =
        stack.stream()
            .filter(frame -> isIn(frame, packageName + "."))
            .filter(frame -> !isIn(frame, packageName + ".buffer.", packageName + ".util."))
            .limit(1)
            .toList();
    return !ofNetty.isEmpty() ? ofNetty : callers.isEmpty() ? stack : callers;
  }

  private static boolean isIn(StackTraceElement frame, String... beginnings) {
    return Arrays.stream(beginnings).anyMatch(frame.getClassName()::startsWith);
  }

  private void noteAllocator(Part part) {
    List<WeakReference<Object>> all = part.kind().equals(POOLED) ? pooledAllocators : adaptivePools;
    Object allocator = part.allocator();
    if (all.stream().noneMatch(one -> one.refersTo(allocator))) {
      all.add(new WeakReference<>(allocator));
    }
  }

  // ---- Reading the sizes of pools

  private Amounts pooled(Members members, Look look) throws Throwable {
    Set<Object> allocators = Collections.newSetFromMap(new IdentityHashMap<>());
    members.defaultPooled().ifPresent(allocators::add);
    addLive(pooledAllocators, allocators);
    BooleanSupplier isOver = look.time();
    double chunks = 0;
    double bytes = 0;
    double used = 0;
    double inBuffers = 0;
    double huge = 0;
    for (Object allocator : allocators) {
      double ofAllocator = 0;
      for (Object arena : members.arenas(allocator)) {
        if (isOver.getAsBoolean()) {
          throw new TimeoutException("the look ended before all chunks were read");
        }
        for (Object list : members.chunkLists(arena)) {
          for (Object chunk : (Iterable<?>) list) {
            double size = members.chunkSize(chunk);
            chunks++;
            ofAllocator += size;
            used += size - members.freeBytes(chunk);
            inBuffers += members.pinnedBytes(chunk);
          }
        }
      }
      bytes += ofAllocator;
      huge += Math.max(0, members.usedDirectMemory(allocator) - ofAllocator);
    }
    boolean counts = inBuffers > 0 || used == 0;
    double cached = counts ? Math.max(0, used - inBuffers) : Double.NaN;
    return new Amounts(chunks, bytes + huge, used + huge, cached);
  }

  private Amounts adaptive(Members members) throws Throwable {
    Set<Object> pools = Collections.newSetFromMap(new IdentityHashMap<>());
    members.defaultAdaptive().ifPresent(pools::add);
    addLive(adaptivePools, pools);
    double bytes = 0;
    for (Object pool : pools) {
      bytes += members.usedMemory(pool);
    }
    return new Amounts(Double.NaN, bytes, Double.NaN, Double.NaN);
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

  @FunctionalInterface
  private interface Sizes {
    Amounts read() throws Throwable;
  }

  private static final class Members {

    private final String packageName;
    private final Class<?> buffer;
    private final Map<String, Class<?>> found = new HashMap<>();
    private final Map<String, MethodHandle> handles = new HashMap<>();
    private @Nullable Object detector;

    Members(String packageName, Class<?> buffer) {
      this.packageName = packageName;
      this.buffer = buffer;
    }

    void know(List<Class<?>> all) {
      for (Class<?> one : all) {
        boolean ofCopy =
            one.getClassLoader() == buffer.getClassLoader()
                && one.getName().startsWith(packageName + ".");
        if (ofCopy) {
          found.put(one.getName().substring(packageName.length()), one);
        }
      }
    }

    void open() throws Throwable {
      detector = staticField(buffer, "leakDetector", needed(Names.DETECTOR)).invoke();
    }

    /** Returns n if one in n buffers is tracked; 0 if none is tracked. */
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

    /**
     * Sets the interval of Netty's leak detector. Uses reflection, because the field is final and a
     * method handle cannot write it.
     */
    void track(int interval) throws ReflectiveOperationException {
      Field field = needed(Names.DETECTOR).getDeclaredField("samplingInterval");
      field.setAccessible(true);
      field.setInt(detector, interval);
    }

    Set<?> trackers() throws Throwable {
      return (Set<?>) field(needed(Names.DETECTOR), "allLeaks", Set.class).invoke(detector);
    }

    /** Returns a getter of the latest record of a tracker; null until a buffer is tracked. */
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
      boolean unpooled =
          (boolean) field(needed(Names.CHUNK), "unpooled", boolean.class).invoke(chunk);
      return Optional.of(new Part(POOLED, unpooled ? null : chunk, allocator, length));
    }

    private Optional<Part> adaptivePart(Class<?> type, Object buffer) throws Throwable {
      if (!found.containsKey(Names.ADAPTIVE_CHUNK)) {
        return Optional.empty();
      }
      Object chunk = field(type, "chunk", needed(Names.ADAPTIVE_CHUNK)).invoke(buffer);
      boolean onHeap = (boolean) field(type, "hasArray", boolean.class).invoke(buffer);
      int length = (int) field(type, "length", int.class).invoke(buffer);
      if (chunk == null || onHeap) {
        return Optional.empty();
      }
      Object allocator =
          field(needed(Names.ADAPTIVE_CHUNK), "allocator", needed(Names.ADAPTIVE_POOL))
              .invoke(chunk);
      return Optional.of(new Part(ADAPTIVE, chunk, allocator, length));
    }

    Optional<Object> defaultPooled() throws Throwable {
      Class<?> pooled = found.get(Names.POOLED);
      return pooled == null
          ? Optional.empty()
          : Optional.ofNullable(staticField(pooled, "DEFAULT", pooled).invoke());
    }

    /**
     * Returns the native pool of Netty's default allocator; empty if that allocator is not
     * adaptive.
     */
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

    double usedDirectMemory(Object allocator) throws Throwable {
      return (long) call(allocator, needed(Names.POOLED), "usedDirectMemory", long.class);
    }

    Iterable<?> arenas(Object allocator) throws Throwable {
      return (Iterable<?>) call(allocator, needed(Names.POOLED), "directArenas", List.class);
    }

    Iterable<?> chunkLists(Object arena) throws Throwable {
      Class<?> metric = superOf(arena.getClass(), ".buffer.PoolArenaMetric");
      return (Iterable<?>) call(arena, metric, "chunkLists", List.class);
    }

    double chunkSize(Object chunk) throws Throwable {
      return (int) field(needed(Names.CHUNK), "chunkSize", int.class).invoke(chunk);
    }

    /**
     * Returns the free bytes of a chunk. Reads the field, because Netty's method locks the arena.
     */
    double freeBytes(Object chunk) throws Throwable {
      return (int) field(needed(Names.CHUNK), "freeBytes", int.class).invoke(chunk);
    }

    double pinnedBytes(Object chunk) throws Throwable {
      return (int) call(chunk, needed(Names.CHUNK), "pinnedBytes", int.class);
    }

    double usedMemory(Object pool) throws Throwable {
      return (long) call(pool, needed(Names.ADAPTIVE_POOL), "usedMemory", long.class);
    }

    private Object call(Object target, Class<?> type, String name, Class<?> result)
        throws Throwable {
      return method(type, name, result).invoke(target);
    }

    private Class<?> needed(String name) throws ClassNotFoundException {
      Class<?> type = found.get(name);
      if (type == null) {
        throw new ClassNotFoundException(packageName + name + " is not in use");
      }
      return type;
    }

    /** Finds a superclass or an interface of a class by name, without loading a class. */
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

    /**
     * Returns a handle that takes and returns {@code Object}, so that calls do not mention types of
     * the application.
     */
    private static MethodHandle generic(MethodHandle handle) {
      return handle.asType(MethodType.methodType(Object.class, Object.class));
    }

    private static IllegalStateException unreadable(Throwable cause) {
      return new IllegalStateException("a record of a buffer cannot be read: " + cause, cause);
    }
  }
}
