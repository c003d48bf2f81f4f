package io.mallometer.benchmarks.leaks;

import io.mallometer.internal.interposer.Interposer;
import io.mallometer.internal.leak.EvidenceTrace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** Records each minute what verdicts are made of, for a test to judge it again. */
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

  /** Records with epochs that are to be no longer than the verdicts' own. */
  static TraceLog start(Path file, Pace pace, double scale) {
    TraceLog log = new TraceLog(file, pace, Duration.ofMillis((long) (5000 / scale)));
    log.start();
    return log;
  }

  @Override
  public void run() {
    Interposer library = Interposer.ofThisProcess();
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
