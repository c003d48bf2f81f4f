package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.List;

/**
 * The live native memory before and after a test method was run repeatedly.
 *
 * @param test the class of the test: a stack that contains it belongs to the test
 */
record LiveMemoryChange(Watch watch, Class<?> test, LiveReading before, LiveReading after) {

  private static final int MOST_COLLECTIONS = 3;

  /** Returns the number of allocations without a call site: their live bytes are unknown. */
  long withoutSite() {
    return after.withoutSite() - before.withoutSite();
  }

  /** Returns the call sites whose live bytes have increased. */
  List<Kept> kept() {
    return after.keptSince(before);
  }

  /** Returns the call sites that allocated between the two readings. */
  List<Kept> allocated() {
    return after.allocatedSince(before);
  }

  /**
   * Returns the bytes left: the sum of the increases of call sites, not reduced by the decreases of
   * other call sites. If no call sites were read, returns the increase of the process.
   */
  double left() {
    return after.sites().isEmpty() ? after.liveBytes() - before.liveBytes() : Kept.bytes(kept());
  }

  /**
   * Collects garbage until all bytes left are freed, at most three times. Returns the bytes that
   * were freed; {@code NaN} if the live bytes are unknown.
   */
  double collect() {
    double freed = Double.NaN;
    double left = left();
    // The cleaners may not have run on a busy machine when the wait after the first collection
    // ends.
    for (int i = 0; i < MOST_COLLECTIONS && !(freed >= left); i++) {
      watch.collectGarbage();
      freed = Math.max(0, after.liveBytes() - watch.read().liveBytes());
    }
    return freed;
  }
}
