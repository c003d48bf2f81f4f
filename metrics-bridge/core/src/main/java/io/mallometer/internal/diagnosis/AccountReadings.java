package io.mallometer.internal.diagnosis;

import io.mallometer.internal.history.FallingResolution;
import io.mallometer.internal.history.FallingResolution.Span;
import io.mallometer.internal.process.ProcessCounts;
import io.mallometer.model.Attachment;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.Snapshot;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Stores the readings of the last hour: at most one every 15 s for the last ten minutes, and one a
 * minute before that. These are at most 100 readings of 2 to 20 KB. Thread-safe.
 */
public final class AccountReadings {

  private FallingResolution<AccountReading> readings = empty();
  private Instant latestSplit = Instant.MIN;
  private Optional<Attachment> attachment = Optional.empty();
  private final Supplier<ProcessCounts> counts;

  public AccountReadings(Supplier<ProcessCounts> counts) {
    this.counts = counts;
  }

  private static FallingResolution<AccountReading> empty() {
    return new FallingResolution<>(
        new Span(Duration.ofSeconds(15), Duration.ofMinutes(10)),
        new Span(Duration.ofMinutes(1), Duration.ofHours(1)));
  }

  /**
   * Adds a reading if the resident set has been split into its parts since the latest reading. An
   * attach or a detach clears the readings, because it makes earlier and later live bytes
   * incomparable.
   *
   * @param nanoTime the time by a monotonic clock
   */
  public synchronized void add(Snapshot snapshot, long nanoTime) {
    Optional<Attachment> now = snapshot.self().attachment();
    if (now.isPresent() != attachment.isPresent()) {
      readings = empty();
      attachment = now;
    }
    Optional<ResidentMemory> split = snapshot.memory().resident();
    if (split.isPresent() && !split.get().time().equals(latestSplit)) {
      latestSplit = split.get().time();
      readings.add(nanoTime, () -> AccountReading.of(snapshot, split.get(), counts.get()));
    }
  }

  /** Returns when the resident set of the latest reading was split into its parts. */
  public synchronized Instant latest() {
    return latestSplit;
  }

  /** Returns the readings, oldest first. */
  public synchronized List<AccountReading> all() {
    return readings.points();
  }
}
