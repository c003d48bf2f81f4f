package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.List;

/**
 * The live native memory before and after repeated runs of a test.
 *
 * @param test the class of the test; a stack belongs to the test if it has a frame of this class or
 *     of a nested class, unless the memory is HotSpot's or the test harness's ({@link SiteOwner})
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
   * Collects garbage up to three times, until {@link #left()} bytes are freed. Returns the freed
   * bytes; {@code NaN} if the live bytes are unknown.
   */
  double collect() {
    double freed = Double.NaN;
    double left = left();
    // The loop repeats the collection, because cleaners on a busy machine may still free memory
    // after collectGarbage() has returned.
    for (int i = 0; i < MOST_COLLECTIONS && !(freed >= left); i++) {
      watch.collectGarbage();
      freed = Math.max(0, after.liveBytes() - watch.read().liveBytes());
    }
    return freed;
  }
}
