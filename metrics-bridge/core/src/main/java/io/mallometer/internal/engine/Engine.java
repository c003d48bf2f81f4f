package io.mallometer.internal.engine;

import io.mallometer.internal.diagnosis.HeldDiagnosis;
import io.mallometer.internal.history.History;
import io.mallometer.internal.history.Recorder;
import io.mallometer.internal.leak.LeakWatch;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.monitor.BuiltInMonitors;
import io.mallometer.internal.monitor.ListenerThread;
import io.mallometer.internal.monitor.MonitorJournal;
import io.mallometer.internal.monitor.Trimmer;
import io.mallometer.internal.owner.OwnerSearches;
import io.mallometer.internal.owner.ProcessWalkConditions;
import io.mallometer.internal.pool.PoolWatch;
import io.mallometer.internal.process.GarbageCollections;
import io.mallometer.internal.process.LoaderStatistics;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.OwnerBudget;
import io.mallometer.model.Setting;
import io.mallometer.model.TrimReport;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The parts that all {@code Mallometer} objects of a class loader share. Only this class knows how
 * the parts depend on each other.
 */
public final class Engine {

  private final Sources sources;
  private final AtomicReference<MallometerOptions> options =
      new AtomicReference<>(MallometerOptions.defaults());
  private final History history = new History();
  private final ListenerThread listenerThread = new ListenerThread();
  private final CallSiteReader callSites;
  private final ResidentReader resident;
  private final LeakWatch leaks;
  private final Recorder recorder;
  private final MessageReader message;
  private final ProfileKeeper profiles;
  private final Trimmer trimmer;
  private final AllocatorReader allocator;
  private final OwnerSearches owners;
  private final PoolWatch pools;
  private final MonitorJournal monitorBook;
  private final HeldDiagnosis heldDiagnosis;
  private final LoaderStatistics loaders;
  private final Poller poller;

  /** Creates an engine. It polls nothing until a {@code Mallometer} object acquires the poller. */
  public Engine(Sources sources) {
    NativeLibrary library = sources.library();
    MemorySource memory = sources.memory();
    Clock clock = sources.clock();
    LongSupplier nanoTime = sources.nanoTime();
    this.sources = sources;
    this.callSites = new CallSiteReader(library, clock, nanoTime);
    this.resident = new ResidentReader(memory, library, callSites, clock, nanoTime);
    this.leaks = new LeakWatch(library, callSites, clock, nanoTime, GarbageCollections::ofThisJvm);
    this.pools = new PoolWatch(library, callSites, clock, nanoTime);
    callSites.groupChunks(pools::chunksBySite);
    this.recorder = new Recorder(library, nanoTime);
    this.message = new MessageReader(library);
    this.profiles = new ProfileKeeper(callSites, recorder::keep, clock);
    this.trimmer =
        new Trimmer(
            library,
            new Supplier<OptionalLong>() {
              @Override
              public OptionalLong get() {
                return memory.residentBytes();
              }
            },
            clock,
            nanoTime);
    this.allocator = new AllocatorReader(library, trimmer::running, clock, nanoTime);
    this.monitorBook = new MonitorJournal(library, clock);
    this.heldDiagnosis = new HeldDiagnosis(sources.started());
    this.loaders =
        LoaderStatistics.ofThisJvm(
            clock,
            () ->
                callSites.isAffordable(1)
                    ? callSites.notOlderThan(Duration.ofSeconds(30), 1).sites()
                    : List.of());
    BooleanSupplier measures = () -> library.present() || memory.present();
    this.poller =
        new Poller(
            library,
            clock,
            sources.threads(),
            options,
            measures,
            // Cheap readers come first, because a process near its memory limit may be killed at
            // any moment. The reader "profiles" must come before "callSites". After each poll,
            // "profiles" may store the latest reading of the call sites; "callSites" then drops
            // that reading.
            List.of(
                new RecordingReader(recorder, measures, leaks::addKnownLeaks, leaks::knownLeaks),
                message,
                new MemoryReader(memory, library, clock),
                allocator,
                profiles,
                callSites,
                resident,
                new PoolReader(pools),
                new LeakReader(leaks, library),
                new VersionReader(sources.version())),
            new Diagnoser(
                new Diagnoser.Facts(
                    callSites::held,
                    leaks::latest,
                    options::get,
                    recorder::previousRun,
                    loaders::read),
                heldDiagnosis,
                history,
                nanoTime),
            new SnapshotOfScrape(nanoTime));
    this.owners =
        new OwnerSearches(
            library,
            new ProcessWalkConditions(() -> poller.latest().memory().limit(), nanoTime),
            () -> OwnerBudget.of(options.get()),
            leaks::isLost,
            clock);
  }

  public Poller poller() {
    return poller;
  }

  public NativeLibrary library() {
    return sources.library();
  }

  public Clock clock() {
    return sources.clock();
  }

  public LongSupplier nanoTime() {
    return sources.nanoTime();
  }

  public ListenerThread listenerThread() {
    return listenerThread;
  }

  public History history() {
    return history;
  }

  public Recorder recorder() {
    return recorder;
  }

  public MessageReader message() {
    return message;
  }

  public BuiltInMonitors.MonitorContext monitorParts() {
    return new BuiltInMonitors.MonitorContext(
        library(),
        poller::latest,
        callSites::callSites,
        profiles::keepPresent,
        listenerThread,
        monitorBook,
        nanoTime());
  }

  public ProfileKeeper profiles() {
    return profiles;
  }

  public MonitorJournal monitorBook() {
    return monitorBook;
  }

  public LeakWatch leaks() {
    return leaks;
  }

  public ResidentReader resident() {
    return resident;
  }

  public CallSiteReader callSites() {
    return callSites;
  }

  public OwnerSearches owners() {
    return owners;
  }

  public LoaderStatistics loaders() {
    return loaders;
  }

  public PoolWatch pools() {
    return pools;
  }

  public void starting(boolean begins) {
    heldDiagnosis.starting(begins, sources.clock().instant());
  }

  /**
   * Trims on the calling thread, unless the latest trim is too recent, and reads the allocator's
   * statistics afterwards.
   */
  public TrimReport trim() {
    TrimReport report = trimmer.trim(options.get().get(Setting.TRIM_MINIMUM_INTERVAL));
    if (report.outcome() == TrimReport.Outcome.DONE) {
      allocator.readAfterTrim();
    }
    return report;
  }
}
