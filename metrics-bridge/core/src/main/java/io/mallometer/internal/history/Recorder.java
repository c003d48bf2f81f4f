package io.mallometer.internal.history;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.text.Log;
import io.mallometer.internal.text.Words;
import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.Snapshot;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Java's part of the recording. Once a minute, and whenever memory exceeds 85, 90 or 95 % of the
 * limit, it writes where the memory is, beside the counters that the library writes. When it
 * begins, it logs one line about how the previous run ended.
 *
 * <p>Only the library makes the file. If the library is not in the process, nothing is recorded,
 * and the state of the recording says so. The recording begins when the library is attached.
 *
 * <p>The poller's thread opens and writes the files. The first failure is logged and ends the
 * recording. In a JVM with several class loaders the first of them writes.
 */
public final class Recorder {

  /** Names the file in the properties of the JVM, which all class loaders share. */
  private static final String OWNER = "io.mallometer.recording";

  private static final String VARIABLE = "MALLOMETER_RECORDING";
  private static final String NO_LIBRARY =
      "the library is not in this process, and only it writes the recording";

  private static final long MINUTE = 60_000_000_000L;

  /** Polls do not come at full seconds. */
  private static final long TOLERANCE = 1_000_000_000L;

  private final Interposer interposer;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final Thresholds thresholds = new Thresholds();

  private volatile Optional<Path> wanted;
  private final AtomicBoolean asked;
  private volatile RecordingStatus recording = RecordingStatus.off();
  private volatile Optional<PreviousRun> previousRun = Optional.empty();

  /** What earlier runs recorded, until it is taken. */
  private final AtomicReference<List<KnownLeak>> knownLeaks = new AtomicReference<>(List.of());

  /** Guarded by this, as is all that follows. */
  private @Nullable RecordingFile file;

  private @Nullable Thread goodbye;
  private boolean opened;
  private boolean readWithoutLibrary;
  private Optional<Long> lastMinute = Optional.empty();
  private Optional<Long> lastPeak = Optional.empty();

  /** Those that are still to be written. */
  private final Map<KeptMoment, CallSites> profiles = new EnumMap<>(KeptMoment.class);

  private List<KnownLeak> lastLeaks = List.of();

  /**
   * Records if the environment says so, or the library does already, or {@link #want} is called.
   */
  public Recorder(Interposer interposer, Clock clock, LongSupplier nanoTime) {
    this(interposer, clock, nanoTime, environment());
  }

  Recorder(
      Interposer interposer, Clock clock, LongSupplier nanoTime, @Nullable String environment) {
    this.interposer = interposer;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.wanted = path(environment);
    this.asked = new AtomicBoolean(wanted.isPresent());
  }

  private static @Nullable String environment() {
    try {
      return System.getenv(VARIABLE);
    } catch (SecurityException e) {
      // The status says that a security manager is in the way.
      return null;
    }
  }

  /** Asks for a recording, from the next poll on. The first who asks decides where. */
  public void want(Path path) {
    Path absolute = path.toAbsolutePath();
    synchronized (this) {
      if (wanted.isEmpty() && !opened) {
        wanted = Optional.of(absolute);
        asked.set(true);
        return;
      }
    }
    if (!wanted.map(Path::toAbsolutePath).equals(Optional.of(absolute))) {
      Log.MALLOMETER.warn(
          "The recording is not written to %s, because it is already written to another file"
              .formatted(absolute));
    }
  }

  /** Whether a recording was asked for since this was last called. */
  public boolean askedAnew() {
    return asked.getAndSet(false);
  }

  /** Says why there will be no recording, if one was asked for. */
  public void refuse(String reason) {
    if (asked.getAndSet(false)) {
      wanted.ifPresent(path -> fail(path.toString(), reason));
    }
  }

  /** What became of it. */
  public RecordingStatus recording() {
    return recording;
  }

  /** How the life before this one ended; empty if none is recorded. */
  public Optional<PreviousRun> previousRun() {
    return previousRun;
  }

  /** The leaks that earlier runs recorded; none if this was called since they were read. */
  public List<KnownLeak> takeKnownLeaks() {
    return knownLeaks.getAndSet(List.of());
  }

  /**
   * Whether a snapshot has crossed a share of the limit, so that it is worth while to look again
   * where the memory is before {@link #observe} writes it down.
   */
  public synchronized boolean crosses(Snapshot snapshot) {
    return file != null && thresholds.wouldCross(shareOfLimit(snapshot));
  }

  /** Opens the file, if one is asked for and that has not been done. Never throws. */
  public synchronized void begin() {
    try {
      if (!opened) {
        open();
      }
    } catch (RuntimeException e) {
      fail(recording.path(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Takes part in the recording with a snapshot. Called after each poll; never throws.
   *
   * @param leaks the leaks that the next run shall know
   */
  public synchronized void observe(Snapshot snapshot, List<KnownLeak> leaks) {
    begin();
    try {
      RecordingFile open = file;
      if (open != null) {
        write(open, snapshot, leaks);
      }
    } catch (IOException | RuntimeException e) {
      fail(recording.path(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Writes the call sites of a moment; those of the peak once a minute at most, and what came in
   * between is then left out. Never throws.
   */
  public synchronized void keep(KeptMoment moment, CallSites read) {
    RecordingFile open = file;
    if (open == null) {
      return;
    }
    profiles.put(moment, read.with(List.copyOf(ProfileText.sites(read))));
    try {
      writeProfiles(open, nanoTime.getAsLong());
    } catch (IOException | RuntimeException e) {
      fail(recording.path(), String.valueOf(e.getMessage()));
    }
  }

  private void writeProfiles(RecordingFile open, long now) throws IOException {
    for (KeptMoment moment : List.copyOf(profiles.keySet())) {
      boolean isPeak = moment == KeptMoment.PEAK;
      if (isPeak && lastPeak.isPresent() && now - lastPeak.get() < MINUTE - TOLERANCE) {
        continue;
      }
      lastPeak = isPeak ? Optional.of(now) : lastPeak;
      CallSites read = profiles.remove(moment);
      if (read != null) {
        open.writeProfile(moment, now, read);
      }
    }
  }

  /**
   * Writes nothing more until the next {@link #observe}, which goes on in the same file. Never
   * throws.
   */
  public synchronized void close() {
    Thread hook = goodbye;
    goodbye = null;
    if (hook != null) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM shuts down: the hook runs, and the file stays open for it.
        return;
      }
    }
    closeFile();
    opened = false;
    asked.set(wanted.isPresent());
    recording = RecordingStatus.off();
  }

  // ---- Beginning

  private void open() {
    RecordingStatus library = interposer.recording();
    if (library.state() == RecordingStatus.State.OFF && wanted.isPresent()) {
      library = interposer.record(wanted.get());
    }
    if (library.state() == RecordingStatus.State.OFF) {
      wanted.ifPresent(this::beginWithoutLibrary);
      return;
    }
    opened = true;
    if (library.state() == RecordingStatus.State.FAILED) {
      fail(library.path(), library.reason());
      return;
    }
    Path path = Path.of(library.path());
    if (System.getProperties().putIfAbsent(OWNER, path.toString()) != null) {
      recording =
          RecordingStatus.failed(
              path.toString(), "another class loader of this JVM writes the recording");
      return;
    }
    try {
      open(path.toAbsolutePath(), library);
    } catch (IOException | RuntimeException e) {
      System.getProperties().remove(OWNER);
      fail(path.toString(), String.valueOf(e.getMessage()));
    }
  }

  /** Nothing is recorded, but the file may hold the previous run. The library would rename it. */
  private void beginWithoutLibrary(Path path) {
    recording = RecordingStatus.failed(path.toString(), NO_LIBRARY);
    if (!readWithoutLibrary) {
      readWithoutLibrary = true;
      tellHowThePreviousRunEnded(path);
    }
  }

  private void open(Path path, RecordingStatus library) throws IOException {
    RecordingFile open = RecordingFile.join(path, library.life());
    file = open;
    boolean first = !open.holds(RecordingFormat.JVM);
    if (first) {
      open.write(
          RecordingFormat.JVM, clock.instant(), nanoTime.getAsLong(), MemoryLines.ofThisJvm());
    }
    goodbye = new Thread(() -> sayGoodbye(open), "mallometer-goodbye");
    try {
      Runtime.getRuntime().addShutdownHook(goodbye);
    } catch (IllegalStateException e) {
      sayGoodbye(open);
    }
    if (first) {
      tellHowThePreviousRunEnded(Path.of(path + ".previous"));
    }
    // A file that was begun before holds what its first writer knew.
    knownLeaks.set(knownLeaks(path, first ? List.of(".previous", ".kept") : List.of("")));
    recording = new RecordingStatus(RecordingStatus.State.ON, path.toString(), open.life(), "");
  }

  private void tellHowThePreviousRunEnded(Path previous) {
    try {
      // Where no file was displaced nobody has looked at it yet; a pipe would never be read.
      if (!RecordingFile.isOwn(previous)) {
        return;
      }
      RecordedLife life = RecordedLife.read(previous);
      if (isOfALiveProcess(life)) {
        return;
      }
      boolean isNews = previousRun.isEmpty();
      Aftermath aftermath = Aftermath.of(life, false);
      Ending ending = Ending.of(life, aftermath);
      Instant end = life.empty() ? life.header().started() : life.last().time();
      previousRun =
          Optional.of(
              new PreviousRun(
                  previous.toString(),
                  life.header().pid(),
                  life.header().started(),
                  end,
                  ending.reason(),
                  ending.alarming(),
                  ending.inShort(life),
                  RecordingReport.of(life, aftermath)));
      if (isNews) {
        Log.MALLOMETER.log(
            ending.alarming() ? Level.WARNING : Level.INFO,
            "The previous run (process %d, until %s) %s. Full report: bin/mallometer report %s"
                .formatted(life.header().pid(), Words.date(end), ending.sentence(), previous),
            null);
      }
    } catch (IOException | RuntimeException e) {
      Log.MALLOMETER.info("How the previous run ended cannot be read: " + e.getMessage());
    }
  }

  /** Returns whether the process that wrote the file may still run: it began before the file. */
  private static boolean isOfALiveProcess(RecordedLife life) {
    return ProcessHandle.of(life.header().pid())
        .flatMap(process -> process.info().startInstant())
        .filter(start -> start.isBefore(life.header().started()))
        .isPresent();
  }

  /** Of the latest run that got so far as to record any; what cannot be read has none. */
  private static List<KnownLeak> knownLeaks(Path path, List<String> suffixes) {
    for (String suffix : suffixes) {
      Path file = Path.of(path + suffix);
      try {
        Optional<RecordedText> latest =
            RecordingFile.isOwn(file) ? RecordedLife.read(file).latest() : Optional.empty();
        if (latest.isPresent()) {
          return MemoryLines.knownLeaks(latest.get().text());
        }
      } catch (IOException | RuntimeException e) {
        Log.MALLOMETER.debug("The leaks of an earlier run cannot be read", e);
      }
    }
    return List.of();
  }

  // ---- Each poll

  private void write(RecordingFile open, Snapshot snapshot, List<KnownLeak> leaks)
      throws IOException {
    long now = nanoTime.getAsLong();
    List<Integer> crossed = thresholds.crossedBy(shareOfLimit(snapshot));
    if (!crossed.isEmpty()) {
      MemoryText text = MemoryLines.of(snapshot, leaks);
      text.line("threshold-percent", crossed.get(crossed.size() - 1));
      open.write(RecordingFormat.CROSSINGS, snapshot.time(), now, text);
    }
    boolean due =
        lastMinute.isEmpty()
            || now - lastMinute.get() >= MINUTE - TOLERANCE
            || !leaks.equals(lastLeaks);
    if (due && (snapshot.memory().resident().isPresent() || lastMinute.isPresent())) {
      lastMinute = Optional.of(now);
      lastLeaks = leaks;
      open.write(RecordingFormat.MINUTES, snapshot.time(), now, MemoryLines.of(snapshot, leaks));
    }
    writeProfiles(open, now);
  }

  private static double shareOfLimit(Snapshot snapshot) {
    return snapshot.memory().setLimit().usedShare();
  }

  // ---- The end

  private void sayGoodbye(RecordingFile open) {
    try {
      open.writeShutdown(clock.instant(), nanoTime.getAsLong());
    } catch (IOException | RuntimeException e) {
      // Nobody is left to tell.
      return;
    }
  }

  private void fail(String path, String reason) {
    closeFile();
    opened = true;
    recording = RecordingStatus.failed(path, reason);
    Log.MALLOMETER.warn("The recording is off: " + reason);
  }

  private void closeFile() {
    RecordingFile open = file;
    file = null;
    if (open != null) {
      System.getProperties().remove(OWNER);
      try {
        open.close();
      } catch (IOException e) {
        return;
      }
    }
  }

  private static Optional<Path> path(@Nullable String text) {
    try {
      return text == null || text.isEmpty()
          ? Optional.empty()
          : Optional.of(Path.of(text).toAbsolutePath());
    } catch (InvalidPathException e) {
      Log.MALLOMETER.warn(VARIABLE + " is not a path: " + e.getReason());
      return Optional.empty();
    }
  }
}
