package io.mallometer.internal.pool;

import io.mallometer.internal.history.SiteReadings;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.pool.PoolReading.Tracked;
import io.mallometer.internal.process.Pause;
import io.mallometer.internal.symbol.SiteNaming;
import io.mallometer.model.CallSite;
import io.mallometer.model.Estimate;
import io.mallometer.model.PoolReport;
import io.mallometer.model.PoolReport.BufferSite;
import io.mallometer.model.PoolReport.Pool;
import io.mallometer.model.StackFrame;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.DoubleStream;

/**
 * Reads the pools of all known libraries once a minute, or every ten seconds while a caller
 * requests readings. The pause is longer after an expensive reading. A reading lists the loaded
 * classes, and reads new buffers for at most 20 ms of CPU time. If new buffers are left, the next
 * reading follows sooner.
 *
 * <p>The poller's thread uses this class. Other threads may call only {@link #ask} and {@link
 * #latest}.
 */
public final class PoolWatch {

  public static final long PACE_NANOS = 60_000_000_000L;

  static final long ASKED_NANOS = 10_000_000_000L;

  private static final long LONGEST_READING_NANOS = 20_000_000L;

  /**
   * The pause after a reading is this multiple of its CPU time, so that readings usually take at
   * most 0.5 % of a processor.
   */
  private static final long REST = 200;

  /**
   * The longest pause, in nanoseconds. A pause grows with the CPU time of the reading before it.
   * The first reading takes much CPU time, because the JVM has not compiled the code yet.
   */
  private static final long LONGEST_PAUSE_NANOS = 120_000_000_000L;

  private static final int MOST_BUFFER_SITES = 10;

  private static final int MOST_SITES = 99;

  private record ChunkSites(double bytes, List<Integer> numbers) {
    static final ChunkSites UNKNOWN = new ChunkSites(Double.NaN, List.of());

    static ChunkSites of(List<CallSite> sites) {
      return sites.isEmpty()
          ? UNKNOWN
          : new ChunkSites(
              sites.stream().mapToDouble(site -> site.liveBytes().value()).sum(),
              sites.stream().limit(MOST_SITES).map(CallSite::number).toList());
    }
  }

  private final NativeLibrary library;
  private final SiteReadings sites;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final LongSupplier cpuTime;
  private final NettyPools netty = new NettyPools(this::lineOf);
  private final Map<String, HoldTime> holdTimes = new HashMap<>();

  /** The call sites of chunks at the last reading, by the classes on their stacks. */
  private final Map<List<String>, ChunkSites> chunkSites = new HashMap<>();

  private volatile List<String> applicationPackages = List.of();
  private volatile Optional<PoolReport> latest = Optional.empty();
  private volatile boolean asked;
  private boolean everLooked;
  private boolean complete = true;
  private long next;
  private long nextIfAsked;

  public PoolWatch(NativeLibrary library, SiteReadings sites, Clock clock, LongSupplier nanoTime) {
    this(library, sites, clock, nanoTime, Pause::processorNanos);
  }

  PoolWatch(
      NativeLibrary library,
      SiteReadings sites,
      Clock clock,
      LongSupplier nanoTime,
      LongSupplier cpuTime) {
    this.cpuTime = cpuTime;
    this.library = library;
    this.sites = sites;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /**
   * Sets the packages of the application. Buffers are named by lines of code in these packages,
   * where possible.
   */
  public void nameBy(List<String> packages) {
    applicationPackages = packages;
  }

  /**
   * Makes Netty's leak detector track one in every {@code interval} buffers. Takes effect at the
   * next reading.
   */
  public void trackNetty(int interval) {
    netty.track(interval);
  }

  public Optional<PoolReport> latest() {
    return latest;
  }

  /** Returns {@link PoolReport#chunksBySite} of the latest report; empty if there is no report. */
  public Map<Integer, String> chunksBySite() {
    return latest.map(PoolReport::chunksBySite).orElse(Map.of());
  }

  /** Requests that the next reading comes sooner. */
  public void ask() {
    asked = true;
  }

  public void look() {
    long now = nanoTime.getAsLong();
    if (everLooked && now - (asked ? nextIfAsked : next) < 0) {
      return;
    }
    asked = false;
    everLooked = true;
    long began = cpuTime.getAsLong();
    try {
      complete = true;
      latest = report(new Look(now, LONGEST_READING_NANOS, cpuTime), began);
    } finally {
      long rest = Math.min(LONGEST_PAUSE_NANOS, REST * (cpuTime.getAsLong() - began));
      nextIfAsked = now + Math.max(ASKED_NANOS, rest);
      next = complete ? now + Math.max(PACE_NANOS, rest) : nextIfAsked;
    }
  }

  private Optional<PoolReport> report(Look look, long began) {
    List<PoolReading> readings = new ArrayList<>();
    library
        .initializedClasses(NettyCopy.Names.ALL)
        .ifPresent(found -> readings.addAll(netty.read(found, look)));
    readings.forEach(reading -> complete &= reading.buffers().complete());
    double seconds = (cpuTime.getAsLong() - began) / 1e9;
    if (readings.isEmpty()) {
      holdTimes.clear();
      chunkSites.clear();
      return Optional.empty();
    }
    List<Pool> pools = new ArrayList<>();
    for (PoolReading reading : readings) {
      pools.add(pool(reading, look.began()));
    }
    forgetLines(look.began());
    pools.sort(Comparator.comparingDouble((Pool pool) -> known(pool.amounts().bytes())).reversed());
    return Optional.of(
        new PoolReport(
            clock.instant(),
            seconds,
            sumOfKnown(pools.stream().mapToDouble(pool -> pool.amounts().bytes())),
            sumOfKnown(pools.stream().mapToDouble(pool -> pool.amounts().usedBytes())),
            pools));
  }

  private static double sumOfKnown(DoubleStream figures) {
    double[] known = figures.filter(bytes -> !Double.isNaN(bytes)).toArray();
    return known.length == 0 ? Double.NaN : DoubleStream.of(known).sum();
  }

  private static double known(double bytes) {
    return Double.isNaN(bytes) ? 0 : bytes;
  }

  private Pool pool(PoolReading reading, long now) {
    List<BufferSite> bufferSites = bufferSites(reading, now);
    ChunkSites allocated = chunkSites(reading.chunkClasses());
    return new Pool(
        reading.origin(),
        reading.amounts(),
        allocated.bytes(),
        allocated.numbers(),
        reading.interval(),
        reading.reason(),
        PoolText.sentence(reading, bufferSites),
        bufferSites);
  }

  /**
   * Returns the memory of the call sites with one of these classes on their stacks. Returns the
   * previous result if reading the call sites is too expensive now.
   */
  private ChunkSites chunkSites(List<String> chunkClasses) {
    if (library.present() && sites.isAffordable(1)) {
      List<CallSite> found =
          sites.notOlderThan(Duration.ofMinutes(1), 1).sites().stream()
              .filter(site -> site.frames().stream().anyMatch(one -> isOfChunk(one, chunkClasses)))
              .toList();
      chunkSites.put(chunkClasses, ChunkSites.of(found));
    }
    return chunkSites.getOrDefault(chunkClasses, ChunkSites.UNKNOWN);
  }

  private static boolean isOfChunk(StackFrame frame, List<String> chunkClasses) {
    return frame.kind() == StackFrame.Kind.JAVA
        && chunkClasses.stream().anyMatch(frame.owner()::startsWith);
  }

  private List<BufferSite> bufferSites(PoolReading reading, long now) {
    Tracked buffers = reading.buffers();
    String pool = buffers.source() + " " + reading.origin().kind() + " ";
    Map<String, List<TrackedBuffer>> live = byLine(buffers.live());
    Map<String, List<TrackedBuffer>> released = byLine(buffers.released());
    Map<String, Estimate> forgotten = new HashMap<>();
    buffers.forgotten().forEach(one -> forgotten.put(one.line(), one.buffers()));
    Set<String> lines = new LinkedHashSet<>(live.keySet());
    lines.addAll(released.keySet());
    lines.forEach(
        line ->
            holdTimes
                .computeIfAbsent(pool + line, name -> new HoldTime())
                .add(
                    live.getOrDefault(line, List.of()),
                    released.getOrDefault(line, List.of()),
                    now));
    Set<String> shown = new LinkedHashSet<>(live.keySet());
    shown.addAll(forgotten.keySet());
    List<BufferSite> bufferSites = new ArrayList<>();
    for (String line : shown) {
      bufferSites.add(
          site(
              line,
              live.getOrDefault(line, List.of()),
              forgotten.getOrDefault(line, Estimate.ZERO),
              holdTimes.getOrDefault(pool + line, new HoldTime()),
              buffers.oneIn(),
              now));
    }
    bufferSites.sort(
        Comparator.comparing((BufferSite site) -> site.hold().suspect())
            .thenComparing(site -> site.forgotten().value() > 0)
            .thenComparingDouble(site -> site.bytes().value())
            .reversed());
    return bufferSites.subList(0, Math.min(MOST_BUFFER_SITES, bufferSites.size()));
  }

  /**
   * Removes a line of code from {@link #holdTimes} an hour after its latest event: a buffer became
   * late (live for a minute), or a late buffer was released.
   */
  private void forgetLines(long now) {
    holdTimes.values().forEach(time -> time.add(List.of(), List.of(), now));
    holdTimes.values().removeIf(HoldTime::isEmpty);
  }

  private static Map<String, List<TrackedBuffer>> byLine(List<TrackedBuffer> buffers) {
    Map<String, List<TrackedBuffer>> byLine = new LinkedHashMap<>();
    buffers.forEach(
        buffer -> byLine.computeIfAbsent(buffer.line(), line -> new ArrayList<>()).add(buffer));
    return byLine;
  }

  private BufferSite site(
      String line,
      List<TrackedBuffer> live,
      Estimate forgotten,
      HoldTime time,
      int oneIn,
      long now) {
    Estimate counted = Estimate.ZERO;
    Estimate bytes = Estimate.ZERO;
    long oldest = 0;
    for (TrackedBuffer buffer : live) {
      counted = counted.plus(buffer.estimate(1, oneIn));
      bytes = bytes.plus(buffer.estimate(buffer.capacity(), oneIn));
      oldest = Math.max(oldest, buffer.age(now));
    }
    boolean suspect = time.grows(live, now);
    double risingSeconds = suspect ? HoldTime.oldestArrived(live, now) / 1e9 : 0;
    return new BufferSite(
        line,
        counted,
        bytes,
        new PoolReport.Tracks(live.size(), chunks(live), oldest / 1e9, time.releasedLate()),
        new PoolReport.Hold(
            suspect, risingSeconds, suspect ? PoolText.suspect(line, time, risingSeconds) : ""),
        forgotten,
        forgotten.value() > 0 ? PoolText.forgotten(line, forgotten) : "");
  }

  private static int chunks(List<TrackedBuffer> live) {
    return (int)
        live.stream().mapToInt(TrackedBuffer::chunk).filter(chunk -> chunk != 0).distinct().count();
  }

  private String lineOf(List<StackTraceElement> stack) {
    List<StackFrame> frames =
        stack.stream()
            .map(
                frame ->
                    StackFrame.ofJava(
                        frame.getClassName(),
                        frame.getMethodName(),
                        frame.getFileName() == null ? "" : frame.getFileName(),
                        Math.max(0, frame.getLineNumber())))
            .toList();
    SiteNaming naming = new SiteNaming(applicationPackages);
    return naming.frame(frames).orElse(frames.get(0)).toString();
  }
}
