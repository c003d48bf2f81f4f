package io.mallometer.internal.library.abi;

import io.mallometer.internal.leak.evidence.Evidence;
import io.mallometer.internal.leak.evidence.MemorySearch;
import io.mallometer.internal.leak.evidence.WatchedAccess;
import io.mallometer.internal.library.MappedRange;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.OpenScope;
import io.mallometer.internal.library.OwnerSearch;
import io.mallometer.internal.library.ProcessStart;
import io.mallometer.internal.library.RequestWatch;
import io.mallometer.model.AllocatorStatistics;
import io.mallometer.model.Attachment;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.ScopeOptions;
import io.mallometer.model.SelfReport;
import io.mallometer.model.SizeDistribution;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import io.mallometer.model.TerminationMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Calls the library in this process and converts its structs to records. The structs of the
 * counters are in native memory that is allocated once, so a reading allocates no native memory and
 * does not count itself.
 */
public final class LoadedLibrary implements NativeLibrary {

  /** The remedy where the library does not support the C library or the platform. */
  public static final String CONTAINER =
      "Run the application in a Linux container for x86-64 or aarch64:"
          + " docker run ... eclipse-temurin:25-jre";

  private static final long CHECK_NANOS = 5_000_000_000L;

  private static final long LONGEST_WAIT_NANOS = 1_000_000_000L;
  private static final int PAUSE_MILLIS = 10;

  private static final int TEXTS_END = Abi.Report.SAMPLE_INTERVAL_BYTES_AT;

  static final Charset FILE_NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private final RecordedCallSites callSites = new RecordedCallSites();
  private final ObservedUse uses = new ObservedUse();
  private final LibraryMemorySearch lost = new LibraryMemorySearch();
  private final LibraryMonitors monitors = new LibraryMonitors();
  private final LibraryScopes scopes = new LibraryScopes(() -> callSites(Instant.now(), List.of()));
  private final CloseSampling closeSampling = new CloseSampling();

  private final Abi.Counters process = new Abi.Counters(Structs.keep(Abi.Counters.BYTES));
  private final Abi.Report self = new Abi.Report(Structs.keep(Abi.Report.BYTES));
  private final Abi.Report state = new Abi.Report(Structs.keep(Abi.Report.BYTES));
  private final Abi.Counters thread = new Abi.Counters(Structs.keep(Abi.Counters.BYTES));
  private final ByteBuffer events = Structs.keep(Abi.Event.BYTES * LibraryMonitors.MOST_EVENTS);
  private final long processAddress = Structs.address(process.memory());
  private final long selfAddress = Structs.address(self.memory());
  private final long stateAddress = Structs.address(state.memory());
  private final long threadAddress = Structs.address(thread.memory());
  private final long eventsAddress = Structs.address(events);
  private final LibraryAllocator allocator = new LibraryAllocator();

  /**
   * A copy of the bytes from which {@link #texts} was decoded. A difference between {@link #self}
   * and this copy causes the texts to be decoded again.
   */
  private final ByteBuffer decoded =
      ByteBuffer.allocate(Abi.Report.BYTES).order(ByteOrder.nativeOrder());

  private Texts texts = Texts.NONE;

  private final Function<String, Status> notCountingStatus;

  private @Nullable Status notCounting;
  private String notCountingBecause = "";
  private Status counting = Status.counting();

  private volatile boolean attached;

  private long checked = System.nanoTime();

  /** When counting began. {@link #sinceNanos} is the same moment by the library's clock. */
  private Optional<Instant> since = Optional.empty();

  private long sinceNanos = -1;

  /**
   * The latest huge requests. They are read again when the counter of such requests differs from
   * {@link #knownHuge}.
   */
  private List<HugeAllocation> hugeAllocations = List.of();

  private long knownHuge;

  /** Time spent in this class after the native calls returned; guarded by {@link #process}. */
  private long decodingNanos;

  private record Texts(String build, String allocator, String reason) {
    static final Texts NONE = new Texts("", "", "");
  }

  /**
   * Links to the library and reads the counters once, so that all failures occur here.
   *
   * @param notCountingStatus creates the status while the library does not count. Its argument is
   *     the library's reason, which may be empty
   * @throws LinkageError if JNA or a function of the library is missing
   * @throws RuntimeException if native access is denied, or a function of the library fails
   */
  public static LoadedLibrary open(Function<String, Status> notCountingStatus) {
    LoadedLibrary opened = new LoadedLibrary(notCountingStatus);
    opened.read(Instant.now());
    return opened;
  }

  private LoadedLibrary(Function<String, Status> notCountingStatus) {
    this.notCountingStatus = notCountingStatus;
  }

  @Override
  public boolean present() {
    return true;
  }

  @Override
  public Status attach() {
    Status status = currentStatus();
    if (status.active()) {
      return status;
    }
    untilNotBusy(LibraryFunctions::mallometer_attach);
    return currentStatus();
  }

  /**
   * Repeats a call for up to 1 s while the library is busy, such as when another thread attaches or
   * forks.
   */
  private static int untilNotBusy(IntSupplier act) {
    long began = System.nanoTime();
    int result = act.getAsInt();
    try {
      while (result == Errno.EBUSY && System.nanoTime() - began < LONGEST_WAIT_NANOS) {
        Thread.sleep(PAUSE_MILLIS);
        result = act.getAsInt();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return result;
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
          status.active() ? Optional.of(LibraryCounters.process(process)) : Optional.empty();
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
  public boolean nameCompiledMethods(boolean names) {
    long value = names ? 1 : 0;
    return untilNotBusy(
            () -> LibraryFunctions.mallometer_configure(Abi.OPTION_COMPILED_METHODS, value))
        == 0;
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
              LibraryCounters.process(process),
              self.sampleIntervalBytes(),
              self.samples(),
              closeSampling.isOn() ? 0 : self.liveSamples(),
              dropped(),
              LibraryReport.byteUnit(self),
              texts().reason());
    }
    CallSites read = callSites.read(time, applicationPackages, report, whole);
    synchronized (process) {
      check(callProcess(), "mallometer_snapshot");
      return read.since(report(time, texts(), Double.NaN), LibraryCounters.process(process));
    }
  }

  @Override
  public List<MappedRange> mappedRanges() {
    return callSites.ranges();
  }

  private Map<String, Long> dropped() {
    Map<String, Long> dropped = new HashMap<>();
    dropped.put("no_site", self.samplesWithoutSite());
    dropped.put("not_followed", self.samplesNotFollowed());
    dropped.put("truncated", self.samplesTruncated());
    dropped.put("no_java", self.samplesWithoutJava());
    dropped.put("no_stack", self.samplesWithoutStack());
    dropped.put("no_method", self.framesWithoutMethod());
    dropped.put("no_module", self.framesWithoutModule());
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
    return uses.read(this::counted);
  }

  private Evidence.Counted counted() {
    synchronized (process) {
      if (callProcess() != 0) {
        return Evidence.Counted.FROM_START;
      }
      NativeCounters counters = LibraryCounters.process(process);
      return new Evidence.Counted(
          counters.allocatedBytes() - counters.freedBytes(), counters.baseline().mostBytes());
    }
  }

  @Override
  public String watchUse(List<Integer> sites) {
    return uses.watch(sites);
  }

  @Override
  public List<WatchedAccess> watchedAccesses() {
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
          ? Optional.of(LibraryCounters.process(process))
          : Optional.empty();
    }
  }

  @Override
  public Optional<NativeCounters> thread() {
    synchronized (thread) {
      return counting() && LibraryFunctions.mallometer_thread_snapshot(threadAddress) == 0
          ? Optional.of(LibraryCounters.thread(thread))
          : Optional.empty();
    }
  }

  @Override
  public OpenScope threadScope(ScopeOptions options) {
    return scopes.open(
        options.matched() ? Abi.SCOPE_MATCHED : Abi.SCOPE_THREAD, () -> currentStatus().reason());
  }

  @Override
  public OpenScope processScope() {
    return scopes.open(Abi.SCOPE_PROCESS, () -> currentStatus().reason());
  }

  @Override
  public Optional<AllocatorStatistics> allocator(Instant time) {
    return allocator.read(time);
  }

  @Override
  public boolean trim() {
    return LibraryFunctions.mallometer_trim() == 0;
  }

  @Override
  public RecordingStatus recording() {
    return Structs.with(
        Abi.RecordingStatus.BYTES, memory -> recording(new Abi.RecordingStatus(memory)));
  }

  private static RecordingStatus recording(Abi.RecordingStatus read) {
    int result = LibraryFunctions.mallometer_recording(Structs.address(read.memory()));
    return switch (result == 0 ? read.state() : Abi.RECORDING_OFF) {
      case Abi.RECORDING_OFF -> RecordingStatus.off();
      case Abi.RECORDING_ON ->
          new RecordingStatus(RecordingStatus.State.ON, read.path(), read.life(), "");
      default -> RecordingStatus.failed(read.path(), read.reason());
    };
  }

  @Override
  public RecordingStatus record(Path path) {
    int result =
        withText(
            path.toAbsolutePath().toString().getBytes(FILE_NAMES),
            LibraryFunctions::mallometer_record);
    return result == Errno.EINVAL
        ? RecordingStatus.failed(path.toString(), "the path is longer than 700 bytes")
        : recording();
  }

  @Override
  public String writeRecording(int kind, int percent, byte[] content) {
    int result =
        withText(
            content,
            address ->
                untilNotBusy(
                    () ->
                        LibraryFunctions.mallometer_recording_write(
                            kind, percent, address, content.length)));
    if (result >= 0) {
      return "";
    }
    String reason = recording().reason();
    return reason.isEmpty() ? "the library refuses a record (errno %d)".formatted(-result) : reason;
  }

  @Override
  public boolean beginMessage(String path) {
    int result = withText(path.getBytes(FILE_NAMES), LibraryFunctions::mallometer_message_start);
    return result != Errno.ENODATA && result != Errno.EAGAIN;
  }

  @Override
  public void prepareMessage(String sentence) {
    byte[] ascii = sentence.getBytes(StandardCharsets.US_ASCII);
    withText(ascii, address -> LibraryFunctions.mallometer_message_sentence(address, ascii.length));
  }

  @Override
  public void endMessage() {
    LibraryFunctions.mallometer_message_stop();
  }

  @Override
  public TerminationMessage message() {
    return Structs.with(
        Abi.MessageStatus.BYTES,
        memory -> {
          LibraryFunctions.mallometer_message(Structs.address(memory));
          Abi.MessageStatus read = new Abi.MessageStatus(memory);
          return new TerminationMessage(read.state() != 0, read.path(), read.reason());
        });
  }

  private static int withText(byte[] bytes, LongToIntFunction function) {
    return Structs.with(
        bytes.length + 1, memory -> function.applyAsInt(Structs.address(memory.put(bytes))));
  }

  /**
   * Reads all stored huge requests again if there is a new one. If the newest is still being
   * written, the next call reads again.
   */
  private void readHugeAllocations(NativeCounters counters) {
    if (counters.hugeAllocations() == knownHuge) {
      return;
    }
    int count = LibraryFunctions.mallometer_events(eventsAddress, LibraryMonitors.MOST_EVENTS, 0);
    if (count >= 0) {
      hugeAllocations = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        hugeAllocations.add(LibraryMonitors.request(Abi.Event.row(events, i)));
      }
      boolean complete =
          count > 0 && hugeAllocations.get(count - 1).number() >= counters.hugeAllocations();
      knownHuge = complete ? counters.hugeAllocations() : knownHuge;
    }
  }

  @Override
  public Optional<List<Class<?>>> initializedClasses(List<String> endings) {
    if (!DirectCalls.linked() && !DirectCalls.callsByAddress()) {
      return Optional.empty();
    }
    String[] signatures =
        endings.stream().map(name -> name.replace('.', '/') + ";").toArray(String[]::new);
    try {
      Class<?>[] found = DirectCalls.classes(signatures);
      return found == null ? Optional.empty() : Optional.of(List.of(found));
    } catch (LinkageError e) {
      return Optional.empty(); // The loaded library is another build, without this method.
    }
  }

  @Override
  public List<StackFrame> stackOf(HugeAllocation request) {
    return Structs.with(Abi.Event.BYTES, memory -> stackOf(request, new Abi.Event(memory)));
  }

  private List<StackFrame> stackOf(HugeAllocation request, Abi.Event event) {
    int count =
        LibraryFunctions.mallometer_events(
            Structs.address(event.memory()), 1, request.number() - 1);
    return count == 1 && event.number() == request.number()
        ? callSites.frames(LibraryMonitors.stack(event))
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
    return LibraryFunctions.mallometer_snapshot(processAddress);
  }

  private int callSelf() {
    return LibraryFunctions.mallometer_self(selfAddress);
  }

  private boolean counting() {
    synchronized (state) {
      return LibraryFunctions.mallometer_self(stateAddress) == 0
          && state.state() == Abi.STATE_COUNTING;
    }
  }

  private Status status() {
    attached = LibraryReport.attached(self);
    return switch (self.state()) {
      case Abi.STATE_COUNTING -> activeStatus();
      case Abi.STATE_DISABLED ->
          new Status(
              State.DISABLED,
              reasonOr("counting is switched off"),
              "Call mallometer_enable(), or restart the process");
      case Abi.STATE_EXCLUDED ->
          new Status(
              State.DISABLED,
              reasonOr("MALLOMETER_ONLY does not name this program"),
              "Start without MALLOMETER_ONLY, or name java in it");
      case Abi.STATE_NOT_PRELOADED -> notCounting();
      case Abi.STATE_UNSUPPORTED ->
          new Status(
              State.UNAVAILABLE,
              reasonOr("the library does not support this C library"),
              CONTAINER);
      default ->
          new Status(
              State.UNAVAILABLE,
              reasonOr("the library reports a state that this bridge does not know"),
              "");
    };
  }

  /** Returns the status of a library that counts; the same object until the status changes. */
  private Status activeStatus() {
    Optional<Attachment> attachment = LibraryReport.attachment(self);
    Status now = Status.counting(mode(), attachment.isPresent() ? attachment.get().gaps() : "");
    if (!counting.reason().equals(now.reason())) {
      counting = now;
    }
    return counting;
  }

  private String mode() {
    return attached ? SelfReport.ATTACHED : SelfReport.PRELOADED;
  }

  /**
   * Returns the status of a library that does not count. The status is stored until the library
   * gives another reason for not counting, because a status names a remedy, and finding the remedy
   * reads files.
   */
  private Status notCounting() {
    String explanation = texts().reason();
    if (notCounting == null || !explanation.equals(notCountingBecause)) {
      notCountingBecause = explanation;
      notCounting = notCountingStatus.apply(explanation);
    }
    return notCounting;
  }

  private String reasonOr(String otherwise) {
    String reason = texts().reason();
    return reason.isEmpty() ? otherwise : reason;
  }

  private Texts texts() {
    for (int at = Abi.Report.BUILD_AT; at < TEXTS_END; at += Long.BYTES) {
      if (self.memory().getLong(at) != decoded.getLong(at)) {
        texts = decodeTexts();
        break;
      }
    }
    return texts;
  }

  private Texts decodeTexts() {
    decoded.put(0, self.memory(), 0, Abi.Report.BYTES);
    return new Texts(self.build(), self.allocator(), self.reason());
  }

  private SelfReport report(Instant time, Texts current, double pollSeconds) {
    boolean active = status().active();
    String mode = active ? mode() : SelfReport.NONE;
    return new SelfReport(
        current.build(),
        current.allocator(),
        mode,
        active ? since(time) : Optional.empty(),
        active ? LibraryReport.attachment(self) : Optional.empty(),
        LibraryReport.byteUnit(self),
        self.footprintBytes(),
        (self.overheadNs() + decodingNanos) / 1e9,
        pollSeconds,
        self.threadsWithoutBlock(),
        self.hugeThresholdBytes(),
        LibraryReport.sampling(self),
        current.reason());
  }

  /**
   * Returns when counting began. Computes it once for each attach, so that it is the same at each
   * reading.
   */
  private Optional<Instant> since(Instant time) {
    long nanos = attached ? self.sinceNs() : 0;
    if (nanos != sinceNanos) {
      sinceNanos = nanos;
      since =
          nanos == 0
              ? ProcessStart.instant()
              : Optional.of(time.minusNanos(process.monotonicNs() - nanos));
    }
    return since;
  }

  private static void check(int result, String function) {
    if (result != 0) {
      throw new IllegalStateException(function + " failed with errno " + -result);
    }
  }
}
