package io.mallometer.interposer;

import io.mallometer.NativeCounters;
import io.mallometer.Snapshot;
import java.time.Instant;
import java.util.Optional;

/**
 * What the facade reads: the library in this process, or the reason why it cannot be read. Tests
 * feed the facade through it. Implementations are thread-safe.
 */
public interface Interposer {

  /** Whether there is a library that can be polled. Never changes. */
  boolean present();

  /**
   * Reads counters and self-report of the process.
   *
   * @param time the snapshot's time
   * @throws IllegalStateException if the library refuses
   */
  Snapshot read(Instant time);

  /** Reads the counters of the process; empty unless it counts. Never throws. */
  Optional<NativeCounters> process();

  /** Reads the counters of the calling thread; empty unless it counts. Never throws. */
  Optional<NativeCounters> thread();

  /** The library in this process. Never throws: what cannot be reached is absent with a reason. */
  static Interposer ofThisProcess() {
    return Availability.ofThisProcess();
  }
}
