package io.mallometer.internal.engine;

import io.mallometer.internal.library.NativeLibrary;
import io.mallometer.internal.library.ProcessStart;
import io.mallometer.internal.process.ApplicationVersion;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.internal.text.SystemTime;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.function.LongSupplier;

/**
 * The sources of all values that an engine reads. Tests replace them.
 *
 * @param clock the time of snapshots
 * @param nanoTime the clock that decides when readings are due
 * @param threads makes the poller's thread
 * @param version the application's version, unless options state one
 */
public record Sources(
    NativeLibrary library,
    MemorySource memory,
    Clock clock,
    LongSupplier nanoTime,
    ThreadFactory threads,
    Instant started,
    Optional<String> version) {

  public static Sources of(NativeLibrary library, MemorySource memory, Clock clock) {
    return new Sources(
        library,
        memory,
        clock,
        SystemTime.NANOS,
        new ThreadFactory() {
          @Override
          public Thread newThread(Runnable work) {
            return Poller.newThread(work);
          }
        },
        processStart(),
        ApplicationVersion.ofThisProcess());
  }

  /**
   * Returns sources of a process that starts at the present time of {@code clock}. The version of
   * its application is unknown.
   */
  public static Sources of(
      NativeLibrary library,
      MemorySource memory,
      Clock clock,
      LongSupplier nanoTime,
      ThreadFactory threads) {
    return new Sources(
        library, memory, clock, nanoTime, threads, clock.instant(), Optional.empty());
  }

  private static Instant processStart() {
    Optional<Instant> process = ProcessStart.instant();
    return process.isPresent()
        ? process.get()
        : Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
  }
}
