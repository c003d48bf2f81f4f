package io.mallometer.benchmarks.leaks;

import io.mallometer.internal.leak.EvidenceTrace;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.load.ProcessLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Records the evidence of verdicts each minute, so that a test can judge it again. */
final class TraceLog extends Thread {

  private static final Duration INTERVAL = Duration.ofMinutes(1);

  private final Path file;
  private final Pace pace;
  private final Duration epoch;

  private TraceLog(Path file, Pace pace, Duration epoch) {
    super("trace");
    this.file = file;
    this.pace = pace;
    this.epoch = epoch;
  }

  /** Records with epochs that are at most as long as those of the verdicts. */
  static TraceLog start(Path file, Pace pace, double scale) {
    TraceLog log = new TraceLog(file, pace, Duration.ofMillis((long) (5000 / scale)));
    log.start();
    return log;
  }

  @Override
  public void run() {
    NativeLibrary library = new ProcessLibrary();
    library.observeUse(epoch);
    try (EvidenceTrace.Recorder recorder = EvidenceTrace.record(file)) {
      for (Duration next = INTERVAL; !pace.isOver(); next = next.plus(INTERVAL)) {
        pace.until(next);
        Instant now = Instant.now();
        recorder.add(library.evidence(), library.callSites(now, List.of()), now);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
