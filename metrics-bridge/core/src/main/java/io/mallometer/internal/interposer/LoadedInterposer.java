package io.mallometer.internal.interposer;

import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Recording;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the library that is in this process.
 *
 * <p>The structs live in direct buffers that are allocated once: a reading mallocs nothing, so it
 * does not count itself, and its only garbage is the record that it returns. The texts of the
 * self-report hardly ever change and are decoded again only when their bytes did.
 */
final class LoadedInterposer implements Interposer {

  private static final long CHECK_NANOS = 5_000_000_000L;

  /** EBUSY as the library returns it. */
  private static final int BUSY = -16;

  private static final long LONGEST_WAIT_NANOS = 1_000_000_000L;
  private static final int PAUSE_MILLIS = 10;

  /** Left in the environment by {@link Relaunch}. */
  private static final String MODE_OF_PRELOAD =
      ProcessStart.relaunched() ? SelfReport.RELAUNCHED : SelfReport.PRELOAD;

  /** EINVAL as the library returns it. */
  private static final int INVALID = -22;

  /** How this JVM encodes the names of files. */
  static final Charset FILE_NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  /** All live samples that there can be outside of page slots. */
  private static final int MOST_NEIGHBOURS = 65_536;

  private static final int FEWEST_NEIGHBOURS = 4_096;

  private final Object neighboursLock = new Object();
  private ByteBuffer neighbours = Structs.keep(FEWEST_NEIGHBOURS * NeighboursLayout.BYTES);

  private final RecordedCallSites callSites = new RecordedCallSites();
  private final ObservedUse uses = new ObservedUse();
  private final LostMemory lost = new LostMemory();
  private final LibraryMonitors monitors = new LibraryMonitors();
  private final LibraryScopes scopes = new LibraryScopes(() -> callSites(Instant.now(), List.of()));
  private final CloseSampling closeSampling = new CloseSampling();

  private final ByteBuffer process = Structs.keep(CountersLayout.BYTES);
  private final ByteBuffer self = Structs.keep(ReportLayout.BYTES);
  private final ByteBuffer state = Structs.keep(ReportLayout.BYTES_TO_STATE);
  private final ByteBuffer thread = Structs.keep(CountersLayout.BYTES);
  private final ByteBuffer allocator = Structs.keep(AllocatorLayout.BYTES);
  private final ByteBuffer arenas =
      Structs.keep(AllocatorLayout.ROW_BYTES * AllocatorStatistics.MOST_ARENAS);
  private final ByteBuffer events = Structs.keep(EventLayout.BYTES * EventLayout.CAPACITY);
  private final long processAddress = Structs.address(process);
  private final long selfAddress = Structs.address(self);
  private final long stateAddress = Structs.address(state);
  private final long threadAddress = Structs.address(thread);
  private final long allocatorAddress = Structs.address(allocator);
  private final long arenasAddress = Structs.address(arenas);
  private final long eventsAddress = Structs.address(events);

  /** What {@link #self} held when {@link #texts} were decoded. */
  private final ByteBuffer decoded =
      ByteBuffer.allocate(ReportLayout.BYTES).order(ByteOrder.nativeOrder());

  private Texts texts = Texts.NONE;

  private @Nullable Status notCounting;
  private String notCountingBecause = "";
  private Status counting = Status.counting();
  private @Nullable List<String> missing;

  /**
   * Whether the library counted by an attach at the latest reading, and when it was looked after.
   */
  private volatile boolean attached;

  private long checked = System.nanoTime();

  /** When counting began, and the library's own time of that. */
  private Optional<Instant> since = Optional.empty();

  private long sinceNanos = -1;

  /** The huge requests at the time when there had been {@link #knownHuge} of them. */
  private List<HugeAllocation> hugeAllocations = List.of();

  private long knownHuge;

  /** Time spent in this class after the native calls returned; guarded by {@link #process}. */
  private long decodingNanos;

  private record Texts(String build, String allocator, String reason) {
    static final Texts NONE = new Texts("", "", "");
  }

  /**
   * Links to the library and reads it once, so that whatever fails fails here.
   *
   * @throws LinkageError if JNA or a function of the library is missing
   * @throws RuntimeException if native access is denied, or the library refuses
   */
  static LoadedInterposer open() {
    LoadedInterposer opened = new LoadedInterposer();
    opened.read(Instant.now());
    return opened;
  }

  private LoadedInterposer() {}

  @Override
  public boolean present() {
    return true;
  }

  /** Refused with the library's own reason, which is that of the state then. */
  @Override
  public Status attach() {
    Status status = currentStatus();
    Optional<String> objection = AttachVariable.objection();
    if (status.active() || objection.isPresent()) {
      return status.active() ? status : Availability.attachForbidden(objection.get());
    }
    untilNotBusy(LibraryFunctions::mallometer_attach);
    return currentStatus();
  }

  /** Another class loader attaches at this moment, the poller looks after it, or a thread forks. */
  private static void untilNotBusy(IntSupplier act) {
    long began = System.nanoTime();
    try {
      while (act.getAsInt() == BUSY && System.nanoTime() - began < LONGEST_WAIT_NANOS) {
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public Status detach() {
    untilNotBusy(LibraryFunctions::mallometer_detach);
    return currentStatus();
  }

  private Status currentStatus() {
    synchronized (process) {
      check(callSelf(), "mallometer_self");
      return status();
    }
  }

  @Override
  public void stayAttached() {
    long now = System.nanoTime();
    if (attached && now - checked >= CHECK_NANOS) {
      checked = now;
      LibraryFunctions.mallometer_attach_check();
    }
  }

  @Override
  public Snapshot read(Instant time) {
    synchronized (process) {
      long start = System.nanoTime();
      check(callSelf(), "mallometer_self");
      check(callProcess(), "mallometer_snapshot");
      long read = System.nanoTime();
      Status status = status();
      Optional<NativeCounters> counters =
          status.active() ? Optional.of(CountersLayout.process(process)) : Optional.empty();
      Texts current = texts();
      if (counters.isPresent()) {
        readHugeAllocations(counters.get());
      }
      long end = System.nanoTime();
      decodingNanos += end - read;
      return new Snapshot(
          time, status, counters, report(time, current, (end - start) / 1e9), hugeAllocations);
    }
  }

  @Override
  public void sampleClosely(boolean closely) {
    SelfReport.Sampling sampling = read(Instant.now()).self().sampling();
    if (closely) {
      closeSampling.begin(sampling);
    } else {
      closeSampling.end();
    }
  }

  @Override
  public void nameMethods() {
    callSites.nameMethods();
  }

  @Override
  public CallSites callSites(Instant time, List<String> applicationPackages) {
    return callSites(time, applicationPackages, true);
  }

  @Override
  public CallSites callSites(Instant time, List<String> applicationPackages, boolean whole) {
    RecordedCallSites.Report report;
    synchronized (process) {
      check(callSelf(), "mallometer_self");
      if (!status().active()) {
        return CallSites.none(time, status().reason());
      }
      check(callProcess(), "mallometer_snapshot");
      report =
          new RecordedCallSites.Report(
              CountersLayout.process(process),
              self.getLong(ReportLayout.SAMPLE_INTERVAL_BYTES),
              self.getLong(ReportLayout.SAMPLES),
              closeSampling.isOn() ? 0 : self.getInt(ReportLayout.LIVE_SAMPLES),
              dropped(),
              ReportLayout.byteUnit(self),
              texts().reason());
    }
    CallSites read = callSites.read(time, applicationPackages, report, whole);
    synchronized (process) {
      check(callProcess(), "mallometer_snapshot");
      return read.since(report(time, texts(), Double.NaN), CountersLayout.process(process));
    }
  }

  /** An entry that the library does not tell is left out. */
  private Map<String, Long> dropped() {
    Map<String, Long> dropped = new HashMap<>();
    dropped.put("no-site", self.getLong(ReportLayout.SAMPLES_WITHOUT_SITE));
    dropped.put("not-followed", self.getLong(ReportLayout.SAMPLES_NOT_FOLLOWED));
    dropped.put("truncated", self.getLong(ReportLayout.SAMPLES_TRUNCATED));
    dropped.put("no-java", self.getLong(ReportLayout.SAMPLES_WITHOUT_JAVA));
    if (ReportLayout.has(self, ReportLayout.SAMPLES_WITHOUT_STACK + Long.BYTES)) {
      dropped.put("no-stack", self.getLong(ReportLayout.SAMPLES_WITHOUT_STACK));
    }
    dropped.put("no-method", self.getLong(ReportLayout.FRAMES_WITHOUT_METHOD));
    dropped.put("no-module", self.getLong(ReportLayout.FRAMES_WITHOUT_MODULE));
    return Map.copyOf(dropped);
  }

  @Override
  public void observeUse(Duration shortestEpoch) {
    uses.start(shortestEpoch);
  }

  @Override
  public void ignoreUse() {
    uses.stop();
  }

  @Override
  public Evidence evidence() {
    return uses.read();
  }

  @Override
  public String watchUse(List<Integer> sites) {
    return uses.watch(sites);
  }

  @Override
  public List<UseOfSite> usesSeen() {
    return uses.seen(callSites::frames);
  }

  @Override
  public String searchMemory(List<Integer> sites, long mostBytes) {
    return lost.start(sites, mostBytes);
  }

  @Override
  public MemorySearch memorySearch() {
    return lost.read();
  }

  @Override
  public OwnerSearch searchOwners(int site) {
    return LibraryOwnerSearch.begin(site);
  }

  @Override
  public Optional<NativeCounters> process() {
    synchronized (process) {
      return counting() && callProcess() == 0
          ? Optional.of(CountersLayout.process(process))
          : Optional.empty();
    }
  }

  @Override
  public Optional<NativeCounters> thread() {
    synchronized (thread) {
      thread.putInt(CountersLayout.SIZE, CountersLayout.BYTES);
      return counting() && LibraryFunctions.mallometer_thread_snapshot(threadAddress) == 0
          ? Optional.of(CountersLayout.thread(thread))
          : Optional.empty();
    }
  }

  @Override
  public OpenScope threadScope(ScopeOptions options) {
    return scopes.open(
        options.matched() ? ScopeLayout.MATCHED : ScopeLayout.THREAD,
        () -> Interposer.super.threadScope(options),
        () -> currentStatus().reason());
  }

  @Override
  public OpenScope processScope() {
    return scopes.open(
        ScopeLayout.PROCESS, Interposer.super::processScope, () -> currentStatus().reason());
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    synchronized (allocator) {
      long start = System.nanoTime();
      allocator.putInt(AllocatorLayout.SIZE, AllocatorLayout.BYTES);
      int result =
          LibraryFunctions.mallometer_allocator(
              allocatorAddress,
              arenasAddress,
              AllocatorLayout.ROW_BYTES,
              AllocatorStatistics.MOST_ARENAS);
      double cost = (System.nanoTime() - start) / 1e9;
      return result == 0
          ? Optional.of(AllocatorLayout.statistics(allocator, arenas, time, cost))
          : Optional.empty();
    }
  }

  @Override
  public boolean trim() {
    return LibraryFunctions.mallometer_trim() == 0;
  }

  @Override
  public List<Neighbours> neighbours() {
    synchronized (neighboursLock) {
      int capacity = neighbours.capacity() / NeighboursLayout.BYTES;
      int count = copyNeighbours(capacity);
      if (count == capacity && count < MOST_NEIGHBOURS) {
        neighbours = Structs.keepInstead(neighbours, MOST_NEIGHBOURS * NeighboursLayout.BYTES);
        count = copyNeighbours(MOST_NEIGHBOURS);
      }
      List<Neighbours> known = new ArrayList<>(Math.max(0, count));
      for (int i = 0; i < count; i++) {
        known.add(NeighboursLayout.row(neighbours, i * NeighboursLayout.BYTES));
      }
      return known;
    }
  }

  private int copyNeighbours(int capacity) {
    return LibraryFunctions.mallometer_neighbours(
        Structs.address(neighbours), NeighboursLayout.BYTES, capacity);
  }

  @Override
  public Recording recording() {
    ByteBuffer struct = Structs.allocate(RecordingLayout.BYTES);
    struct.putInt(RecordingLayout.SIZE, RecordingLayout.BYTES);
    return LibraryFunctions.mallometer_recording(Structs.address(struct)) == 0
        ? RecordingLayout.recording(struct)
        : Recording.off();
  }

  @Override
  public Recording record(Path path) {
    byte[] encoded = path.toAbsolutePath().toString().getBytes(FILE_NAMES);
    ByteBuffer text = Structs.allocate(encoded.length + 1).put(encoded);
    int result = LibraryFunctions.mallometer_record(Structs.address(text));
    return result == INVALID
        ? Recording.failed(path.toString(), "the path is longer than 700 bytes")
        : recording();
  }

  /** An event whose entry is being written is seen at the next reading, as all are read again. */
  private void readHugeAllocations(NativeCounters counters) {
    if (counters.hugeAllocations() == knownHuge) {
      return;
    }
    int count =
        LibraryFunctions.mallometer_events(
            eventsAddress, EventLayout.BYTES, EventLayout.CAPACITY, 0);
    if (count >= 0) {
      hugeAllocations = EventLayout.allocations(events, count);
      boolean complete =
          count > 0 && hugeAllocations.get(count - 1).number() >= counters.hugeAllocations();
      knownHuge = complete ? counters.hugeAllocations() : knownHuge;
    }
  }

  @Override
  public List<StackFrame> stackOf(HugeAllocation request) {
    ByteBuffer event = Structs.allocate(EventLayout.BYTES);
    int count =
        LibraryFunctions.mallometer_events(
            Structs.address(event), EventLayout.BYTES, 1, request.number() - 1);
    return count == 1 && event.getLong(EventLayout.NUMBER) == request.number()
        ? callSites.frames(EventLayout.stack(event))
        : List.of();
  }

  @Override
  public RequestWatch watchRequests(long bytes, int thread) {
    return monitors.watch(bytes, thread, callSites::frames, () -> currentStatus().reason());
  }

  @Override
  public String countReturnedSizes(boolean counts) {
    return monitors.countReturned(counts, () -> currentStatus().reason());
  }

  @Override
  public Optional<SizeDistribution> returnedSizes() {
    return monitors.returned();
  }

  private int callProcess() {
    process.putInt(CountersLayout.SIZE, CountersLayout.BYTES);
    return LibraryFunctions.mallometer_snapshot(processAddress, CountersLayout.SINCE_START);
  }

  private int callSelf() {
    self.putInt(ReportLayout.SIZE, ReportLayout.BYTES);
    return LibraryFunctions.mallometer_self(selfAddress);
  }

  /** Asks for no more of the report than its state. */
  private boolean counting() {
    synchronized (state) {
      state.putInt(ReportLayout.SIZE, ReportLayout.BYTES_TO_STATE);
      return LibraryFunctions.mallometer_self(stateAddress) == 0
          && state.getInt(ReportLayout.STATE) == ReportLayout.STATE_COUNTING;
    }
  }

  private Status status() {
    attached = ReportLayout.attached(self);
    return switch (self.getInt(ReportLayout.STATE)) {
      case ReportLayout.STATE_COUNTING -> activeStatus();
      case ReportLayout.STATE_DISABLED ->
          new Status(State.DISABLED, reasonOr("counting is switched off"), Remedy.count());
      case ReportLayout.STATE_EXCLUDED ->
          new Status(
              State.DISABLED,
              reasonOr("MALLOMETER_ONLY does not name this program"),
              Remedy.include());
      case ReportLayout.STATE_NOT_PRELOADED -> notCounting();
      case ReportLayout.STATE_UNSUPPORTED ->
          new Status(
              State.UNAVAILABLE,
              reasonOr("the library does not support this C library"),
              Remedy.container());
      default ->
          new Status(
              State.UNAVAILABLE,
              reasonOr("the library reports a state that this bridge does not know"),
              "");
    };
  }

  /** The same object while it says the same. */
  private Status activeStatus() {
    Optional<Attachment> attachment = ReportLayout.attachment(self);
    Status now = Status.counting(mode(), attachment.isPresent() ? attachment.get().gaps() : "");
    if (!counting.reason().equals(now.reason())) {
      counting = now;
    }
    return counting;
  }

  private String mode() {
    return attached ? SelfReport.ATTACHED : MODE_OF_PRELOAD;
  }

  /** Kept while the library gives the same reason: the remedy reads files. */
  private Status notCounting() {
    String explanation = texts().reason();
    if (notCounting == null || !explanation.equals(notCountingBecause)) {
      notCountingBecause = explanation;
      notCounting = Availability.loadedButNotCounting(explanation);
    }
    return notCounting;
  }

  private String reasonOr(String otherwise) {
    String reason = texts().reason();
    return reason.isEmpty() ? otherwise : reason;
  }

  private Texts texts() {
    for (int offset = ReportLayout.BUILD; offset < ReportLayout.TEXTS_END; offset += Long.BYTES) {
      if (self.getLong(offset) != decoded.getLong(offset)) {
        texts = decodeTexts();
        break;
      }
    }
    return texts;
  }

  private Texts decodeTexts() {
    decoded.put(0, self, 0, ReportLayout.BYTES);
    return new Texts(
        ReportLayout.text(self, ReportLayout.BUILD, ReportLayout.BUILD_BYTES),
        ReportLayout.text(self, ReportLayout.ALLOCATOR, ReportLayout.ALLOCATOR_BYTES),
        ReportLayout.text(self, ReportLayout.REASON, ReportLayout.REASON_BYTES));
  }

  private SelfReport report(Instant time, Texts current, double pollSeconds) {
    boolean active = status().active();
    String mode = active ? mode() : SelfReport.NONE;
    return new SelfReport(
        current.build(),
        current.allocator(),
        mode,
        active ? since(time) : Optional.empty(),
        active ? ReportLayout.attachment(self) : Optional.empty(),
        ReportLayout.byteUnit(self),
        self.getLong(ReportLayout.FOOTPRINT_BYTES),
        (self.getLong(ReportLayout.OVERHEAD_NS) + decodingNanos) / 1e9,
        pollSeconds,
        self.getLong(ReportLayout.THREADS_WITHOUT_BLOCK),
        self.getLong(ReportLayout.HUGE_THRESHOLD_BYTES),
        ReportLayout.sampling(self),
        missing(),
        remark(current));
  }

  /** Found out once for each attach, so that it is the same in each reading. */
  private Optional<Instant> since(Instant time) {
    long nanos = attached ? self.getLong(ReportLayout.SINCE_NS) : 0;
    if (nanos != sinceNanos) {
      sinceNanos = nanos;
      since =
          nanos == 0
              ? ProcessStart.instant()
              : Optional.of(time.minusNanos(process.getLong(CountersLayout.MONOTONIC_NS) - nanos));
    }
    return since;
  }

  /** Found out once: the library stays what it is. */
  private List<String> missing() {
    List<String> known = missing;
    if (known == null) {
      List<String> found = new ArrayList<>(ReportLayout.missing(self));
      found.addAll(LibraryFunctions.missing());
      known = List.copyOf(found);
      missing = known;
    }
    return known;
  }

  private String remark(Texts current) {
    String older =
        missing().isEmpty()
            ? ""
            : "the library ("
                + current.build()
                + ") is older than this bridge and lacks "
                + String.join(", ", missing())
                + ", so some figures are unknown; preload the library of the bridge's version";
    return current.reason().isEmpty() || older.isEmpty()
        ? current.reason() + older
        : current.reason() + "; " + older;
  }

  private static void check(int result, String function) {
    if (result != 0) {
      throw new IllegalStateException(function + " failed with errno " + -result);
    }
  }
}
