package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.List;

/**
 * The live native memory before and after repeated runs of a test.
 *
 * @param test the class of the test: a stack that contains it belongs to the test
 */
record LiveMemoryChange(Watch watch, Class<?> test, LiveReading before, LiveReading after) {

  private static final int MOST_COLLECTIONS = 3;

  long withoutSite() {
    return after.withoutSite() - before.withoutSite();
  }

  List<Kept> kept() {
    return after.keptSince(before);
  }

  List<Kept> allocated() {
    return after.allocatedSince(before);
  }

  /**
   * Returns the sum of the increases of all call sites. Decreases of other call sites do not reduce
   * it. If no call sites were read, returns the increase of the process.
   */
  double left() {
    return after.sites().isEmpty() ? after.liveBytes() - before.liveBytes() : Kept.bytes(kept());
  }

  /**
   * Collects garbage up to three times, until all bytes left are freed. Returns the freed bytes;
   * {@code NaN} if the live bytes are unknown.
   */
  double collect() {
    double freed = Double.NaN;
    double left = left();
    // Cleaners may still free memory after the wait of collectGarbage() if the machine is busy.
    for (int i = 0; i < MOST_COLLECTIONS && !(freed >= left); i++) {
      watch.collectGarbage();
      freed = Math.max(0, after.liveBytes() - watch.read().liveBytes());
    }
    return freed;
  }
}
