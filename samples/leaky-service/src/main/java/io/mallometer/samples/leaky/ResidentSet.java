package io.mallometer.samples.leaky;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import org.springframework.util.unit.DataSize;

/** Checks whether the resident set has reached a limit, at most once a second. Thread-safe. */
final class ResidentSet {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final long SECOND = 1_000_000_000L;

  private final DataSize largest;
  private final LongSupplier nanoTime;
  private boolean full;
  private long lookedAt;

  ResidentSet(DataSize largest, LongSupplier nanoTime) {
    this.largest = largest;
    this.nanoTime = nanoTime;
    this.lookedAt = nanoTime.getAsLong() - SECOND;
  }

  synchronized boolean isFull() {
    long now = nanoTime.getAsLong();
    if (now - lookedAt >= SECOND) {
      lookedAt = now;
      full = bytes() >= largest.toBytes();
    }
    return full;
  }

  /** Returns the resident bytes; 0 on a system without /proc/self/status. */
  private static long bytes() {
    try {
      return Files.readAllLines(STATUS).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
          .findFirst()
          .orElse(0);
    } catch (IOException e) {
      return 0;
    }
  }
}
