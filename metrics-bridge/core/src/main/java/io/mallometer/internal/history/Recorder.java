package io.mallometer.internal.history;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.text.HumanText;
import io.mallometer.internal.text.Log;
import io.mallometer.model.CallSites;
import io.mallometer.model.KeptMoment;
import io.mallometer.model.PreviousRun;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.Snapshot;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
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
 * Java's part of the recording. Passes the library a text that breaks down the memory by part: once
 * a minute, when the known leaks change, and when memory exceeds 85, 90 or 95 % of the limit. Logs
 * one line about the end of the previous run.
 *
 * <p>Only the library writes the file; Java reads it. The recording begins when the library is
 * attached.
 *
 * <p>After the first failure, which is logged, Java passes nothing more to the library. If several
 * class loaders load this class, only the first one passes texts.
 */
public final class Recorder {

  /**
   * The system property that holds the file's name. The class loader that sets this property first
   * is the only one that writes the recording.
   */
  private static final String OWNER = "io.mallometer.recording";

  private static final String VARIABLE = "MALLOMETER_RECORDING";
  private static final String NO_LIBRARY =
      "the library is not in this process, and only it writes the recording";

  private static final long MINUTE = 60_000_000_000L;

  /**
   * A {@link #MINUTE} may be shorter by this many nanoseconds, because polls are not exactly on
   * time.
   */
  private static final long TOLERANCE = 1_000_000_000L;

  private final NativeLibrary library;
  private final LongSupplier nanoTime;
  private final LimitShares thresholds = new LimitShares();

  private volatile Optional<Path> wanted;
  private final AtomicBoolean asked;
  private volatile RecordingStatus recording = RecordingStatus.off();
  private volatile Optional<PreviousRun> previousRun = Optional.empty();

  /** The leaks that earlier runs recorded; empty after {@link #takeKnownLeaks}. */
  private final AtomicReference<List<KnownLeak>> knownLeaks = new AtomicReference<>(List.of());

  /** Guarded by this, like the fields below. */
  private boolean writing;

  private @Nullable Thread goodbye;
  private boolean opened;
  private boolean readWithoutLibrary;
  private Optional<Long> lastMinute = Optional.empty();
  private Optional<Long> lastPeak = Optional.empty();

  private final Map<KeptMoment, CallSites> profiles = new EnumMap<>(KeptMoment.class);

  private List<KnownLeak> lastLeaks = List.of();

  /**
   * Creates a recorder. It records if the environment or {@link #want} requests a recording, or the
   * library records already.
   */
  public Recorder(NativeLibrary library, LongSupplier nanoTime) {
    this(library, nanoTime, environment());
  }

  Recorder(NativeLibrary library, LongSupplier nanoTime, @Nullable String environment) {
    this.library = library;
    this.nanoTime = nanoTime;
    this.wanted = path(environment);
    this.asked = new AtomicBoolean(wanted.isPresent());
  }

  private static @Nullable String environment() {
    try {
      return System.getenv(VARIABLE);
    } catch (SecurityException e) {
      // The library's status already tells the user about the security manager.
      return null;
    }
  }

  /** Requests a recording from the next poll on. The first request decides the file. */
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

  public boolean askedAnew() {
    return asked.getAndSet(false);
  }

  /**
   * Records the reason why a requested recording will not begin. Does nothing if no recording was
   * requested.
   */
  public void refuse(String reason) {
    if (asked.getAndSet(false)) {
      wanted.ifPresent(path -> fail(path.toString(), reason));
    }
  }

  public RecordingStatus recording() {
    return recording;
  }

  public Optional<PreviousRun> previousRun() {
    return previousRun;
  }

  public List<KnownLeak> takeKnownLeaks() {
    return knownLeaks.getAndSet(List.of());
  }

  /**
   * Returns whether a snapshot newly exceeds 85, 90 or 95 % of the limit. The resident set should
   * then be read again before {@link #observe} records its parts.
   */
  public synchronized boolean exceeds(Snapshot snapshot) {
    return writing && thresholds.wouldExceed(shareOfLimit(snapshot));
  }

  /** Begins a requested recording, unless it has begun. Never throws. */
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
   * Records a snapshot. Called after each poll; never throws.
   *
   * @param leaks the known leaks, recorded for the next run
   */
  public synchronized void observe(Snapshot snapshot, List<KnownLeak> leaks) {
    begin();
    try {
      if (writing) {
        write(snapshot, leaks);
      }
    } catch (IOException | RuntimeException e) {
      fail(recording.path(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Writes the call sites of a moment, but those of the {@link KeptMoment#PEAK} at most once a
   * minute. Never throws.
   */
  public synchronized void keep(KeptMoment moment, CallSites read) {
    if (!writing) {
      return;
    }
    profiles.put(moment, read.with(List.copyOf(ProfileText.sites(read))));
    try {
      writeProfiles(nanoTime.getAsLong());
    } catch (IOException | RuntimeException e) {
      fail(recording.path(), String.valueOf(e.getMessage()));
    }
  }

  private void writeProfiles(long now) throws IOException {
    for (KeptMoment moment : List.copyOf(profiles.keySet())) {
      boolean isPeak = moment == KeptMoment.PEAK;
      if (isPeak && lastPeak.isPresent() && now - lastPeak.get() < MINUTE - TOLERANCE) {
        continue;
      }
      lastPeak = isPeak ? Optional.of(now) : lastPeak;
      CallSites read = profiles.remove(moment);
      if (read != null) {
        int room = RecordingFormat.PROFILE_BYTES - RecordingFormat.FRAME_BYTES;
        write(RecordingFormat.PROFILES, moment.percent(), ProfileText.write(read, room));
      }
    }
  }

  /**
   * Stops writing until the next {@link #observe}, which continues in the same file. Never throws.
   */
  public synchronized void close() {
    Thread hook = goodbye;
    goodbye = null;
    if (hook != null) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is shutting down and runs the hook, which writes the shutdown record.
        return;
      }
    }
    stopWriting();
    opened = false;
    asked.set(wanted.isPresent());
    recording = RecordingStatus.off();
  }

  // ---- Begin a recording

  private void open() {
    RecordingStatus status = library.recording();
    if (status.state() == RecordingStatus.State.OFF && wanted.isPresent()) {
      status = library.record(wanted.get());
    }
    if (status.state() == RecordingStatus.State.OFF) {
      wanted.ifPresent(this::beginWithoutLibrary);
      return;
    }
    opened = true;
    if (status.state() == RecordingStatus.State.FAILED) {
      fail(status.path(), status.reason());
      return;
    }
    Path path = Path.of(status.path());
    if (System.getProperties().putIfAbsent(OWNER, path.toString()) != null) {
      recording =
          RecordingStatus.failed(
              path.toString(), "another class loader of this JVM writes the recording");
      return;
    }
    try {
      open(path.toAbsolutePath(), status);
    } catch (IOException | RuntimeException e) {
      System.getProperties().remove(OWNER);
      fail(path.toString(), String.valueOf(e.getMessage()));
    }
  }

  /**
   * Reports how the previous run ended, and records nothing. The file of the previous run still has
   * its original name, because only the library renames it.
   */
  private void beginWithoutLibrary(Path path) {
    recording = RecordingStatus.failed(path.toString(), NO_LIBRARY);
    if (!readWithoutLibrary) {
      readWithoutLibrary = true;
      tellHowThePreviousRunEnded(
          path, "%s (once this run records: %s.previous)".formatted(path, path));
    }
  }

  private void open(Path path, RecordingStatus library) throws IOException {
    boolean first = own(path, library.life()).jvm().isEmpty();
    writing = true;
    if (first) {
      write(RecordingFormat.JVM, MemoryLines.ofThisJvm());
    }
    goodbye = new Thread(this::sayGoodbye, "mallometer-goodbye");
    try {
      Runtime.getRuntime().addShutdownHook(goodbye);
    } catch (IllegalStateException e) {
      sayGoodbye();
    }
    if (first) {
      tellHowThePreviousRunEnded(Path.of(path + ".previous"), path + ".previous");
    }
    // The file itself contains the leaks of earlier runs if another class loader has begun the
    // recording.
    knownLeaks.set(knownLeaks(path, first ? List.of(".previous", ".kept") : List.of("")));
    recording = library;
  }

  private static RecordedLife own(Path path, long life) throws IOException {
    if (!RecordedLife.isOwn(path)) {
      throw new IOException(path + " does not exist any more");
    }
    RecordedLife own = RecordedLife.read(path);
    if (own.header().life() != life) {
      throw new IOException(path + " has been replaced by another file");
    }
    return own;
  }

  private void tellHowThePreviousRunEnded(Path previous, String whereItIs) {
    try {
      // Nothing has checked the file if the library is missing. The file may be a pipe, and reading
      // a pipe would block.
      if (!RecordedLife.isOwn(previous)) {
        return;
      }
      RecordedLife life = RecordedLife.read(previous);
      if (isOfALiveProcess(life)) {
        return;
      }
      boolean isNews = previousRun.isEmpty();
      PostMortem aftermath = PostMortem.of(life, false);
      ExitDiagnosis ending = ExitDiagnosis.of(life, aftermath);
      Instant end = life.empty() ? life.header().started() : ExitDiagnosis.end(life);
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
                .formatted(life.header().pid(), HumanText.date(end), ending.sentence(), whereItIs),
            null);
      }
    } catch (IOException | RuntimeException e) {
      Log.MALLOMETER.info("How the previous run ended cannot be read: " + e.getMessage());
    }
  }

  /**
   * Returns whether the process that wrote the file might still run. If a process with the same id
   * started after the recording began, it is another process.
   */
  private static boolean isOfALiveProcess(RecordedLife life) {
    return ProcessHandle.of(life.header().pid())
        .flatMap(process -> process.info().startInstant())
        .filter(start -> start.isBefore(life.header().started()))
        .isPresent();
  }

  private static List<KnownLeak> knownLeaks(Path path, List<String> suffixes) {
    for (String suffix : suffixes) {
      Path file = Path.of(path + suffix);
      try {
        Optional<RecordedText> latest =
            RecordedLife.isOwn(file) ? RecordedLife.read(file).parts().latest() : Optional.empty();
        if (latest.isPresent()) {
          return MemoryLines.knownLeaks(latest.get().text());
        }
      } catch (IOException | RuntimeException e) {
        Log.MALLOMETER.debug("The leaks of an earlier run cannot be read", e);
      }
    }
    return List.of();
  }

  // ---- Write at each poll

  private void write(Snapshot snapshot, List<KnownLeak> leaks) throws IOException {
    long now = nanoTime.getAsLong();
    List<Integer> exceeded = thresholds.exceededBy(shareOfLimit(snapshot));
    if (!exceeded.isEmpty()) {
      MemoryText text = MemoryLines.of(snapshot, leaks);
      text.line("threshold-percent", exceeded.get(exceeded.size() - 1));
      write(RecordingFormat.EXCEEDED, text);
    }
    boolean due =
        lastMinute.isEmpty()
            || now - lastMinute.get() >= MINUTE - TOLERANCE
            || !leaks.equals(lastLeaks);
    if (due && (snapshot.memory().resident().isPresent() || lastMinute.isPresent())) {
      lastMinute = Optional.of(now);
      lastLeaks = leaks;
      write(RecordingFormat.MINUTES, MemoryLines.of(snapshot, leaks));
    }
    writeProfiles(now);
  }

  private void write(int kind, MemoryText text) throws IOException {
    write(kind, 0, text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private void write(int kind, int percent, byte[] content) throws IOException {
    String objection = library.writeRecording(kind, percent, content);
    if (!objection.isEmpty()) {
      throw new IOException(objection);
    }
  }

  private static double shareOfLimit(Snapshot snapshot) {
    return snapshot.memory().setLimit().usedShare();
  }

  // ---- End a recording

  private void sayGoodbye() {
    library.writeRecording(RecordingFormat.SHUTDOWN, 0, new byte[0]);
  }

  private void fail(String path, String reason) {
    stopWriting();
    opened = true;
    recording = RecordingStatus.failed(path, reason);
    Log.MALLOMETER.warn("The recording is off: " + reason);
  }

  private void stopWriting() {
    if (writing) {
      writing = false;
      System.getProperties().remove(OWNER);
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
