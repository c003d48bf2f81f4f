package io.mallometer.internal.engine;

import io.mallometer.internal.history.SiteReadings;
import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.process.Pause;
import io.mallometer.model.CallSites;
import io.mallometer.model.ResidentStacks;
import io.mallometer.model.Snapshot;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Finds out which code requested the memory of the resident set. The poller's thread reads when a
 * caller asks. All callers share one reading, and wait ten seconds for it at most.
 *
 * <p>Readings take at most a thousandth of one processor on average. A request beyond that gets the
 * latest reading.
 */
public final class ResidentReader implements SnapshotReader {

  private static final long FRESH_NANOS = 1_000_000_000L;
  private static final long LONGEST_NANOS = 3_600_000_000_000L;
  private static final long LONGEST_WAIT_NANOS = 10_000_000_000L;
  private static final int AHEAD = 2;

  private final MemorySource memory;
  private final NativeLibrary library;
  private final SiteReadings sites;
  private final Clock clock;
  private final LongSupplier nanoTime;

  /** The latest reading that succeeded. Guarded by this, like the fields below. */
  private Optional<ResidentStacks> latest = Optional.empty();

  /** The reason why the latest reading failed; empty if it succeeded. */
  private String missing = "the resident set was not read within 10 s; ask again";

  private boolean wanted;
  private boolean asked;
  private int readings;
  private long readAt;

  /**
   * The time at which the pauses after all readings so far are over, by {@code nanoTime}. A new
   * {@link #pause} is added to earlier pauses that have not ended.
   */
  private long paidAt;

  private long pause;

  ResidentReader(
      MemorySource memory,
      NativeLibrary library,
      SiteReadings sites,
      Clock clock,
      LongSupplier nanoTime) {
    this.memory = memory;
    this.library = library;
    this.sites = sites;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /**
   * Waits for a new reading if one is due, and returns the latest reading that succeeded. If a
   * later reading has failed, the reason in the result states the failure and the age of the
   * result. An interrupt ends the wait.
   */
  public synchronized ResidentStacks read() {
    if (memory.present() && isDue(nanoTime.getAsLong())) {
      wanted = true;
      asked = true;
      awaitReading(readings);
    }
    Instant now = clock.instant();
    String reason = memory.present() ? missing : "this system does not tell the resident set";
    return latest
        .map(read -> missing.isEmpty() ? read : withAge(read, now))
        .orElseGet(() -> new ResidentStacks(now, 0, List.of(), reason));
  }

  private ResidentStacks withAge(ResidentStacks read, Instant now) {
    long seconds = Duration.between(read.time(), now).toSeconds();
    String reason = "read %d s ago, and not since: %s".formatted(seconds, missing);
    return new ResidentStacks(read.time(), read.residentBytes(), read.stacks(), reason);
  }

  private synchronized void awaitReading(int before) {
    long start = System.nanoTime();
    long left = LONGEST_WAIT_NANOS;
    try {
      while (readings == before && left > 0) {
        wait(left / 1_000_000, (int) (left % 1_000_000));
        left = LONGEST_WAIT_NANOS - (System.nanoTime() - start);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isDue(long now) {
    return readings == 0 || (now - readAt >= FRESH_NANOS && paidAt - now <= AHEAD * pause);
  }

  @Override
  public String failure() {
    return "The resident set cannot be read by the code that asked for it";
  }

  @Override
  public synchronized boolean isAsked() {
    boolean before = asked;
    asked = false;
    return before;
  }

  @Override
  public void read(Snapshot soFar) {
    if (takeWish()) {
      long begin = Pause.processorNanos();
      Optional<ResidentStacks> read = Optional.empty();
      String reason = "the resident set is unknown: /proc/self/smaps cannot be read";
      try {
        // The mapped ranges are read last, because memory is also mapped while call sites are
        // named.
        CallSites named = sites.callSites();
        read = memory.origins(library.read(clock.instant()), library.mappedRanges(), named);
      } catch (RuntimeException | LinkageError e) {
        reason = "the resident set cannot be read: " + e;
        throw e;
      } finally {
        finish(read, reason, Pause.processorNanos() - begin);
      }
    }
  }

  private synchronized boolean takeWish() {
    boolean before = wanted;
    wanted = false;
    return before;
  }

  /**
   * Stores a reading, and wakes the threads that wait for it. The cost of the first reading is not
   * counted, because it loads classes.
   */
  private synchronized void finish(Optional<ResidentStacks> read, String reason, long cost) {
    latest = read.or(() -> latest);
    missing = read.isPresent() ? "" : reason;
    readAt = nanoTime.getAsLong();
    pause = Pause.after(readings == 0 ? 0 : cost, FRESH_NANOS, LONGEST_NANOS);
    paidAt = (readings == 0 ? readAt : Math.max(paidAt, readAt)) + pause;
    readings++;
    notifyAll();
  }
}
