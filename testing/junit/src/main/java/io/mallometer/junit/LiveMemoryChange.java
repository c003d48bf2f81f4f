package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.List;

record LiveMemoryChange(Watch watch, Class<?> test, LiveReading before, LiveReading after) {

  private static final int MOST_COLLECTIONS = 3;

  long withoutSite() {
    return after.withoutSite() - before.withoutSite();
  }

  List<Kept> kept() {
    return after.keptSince(before);
  }

  /**
   * Returns the sum of the increases of all call sites. Decreases of other call sites do not reduce
   * it. If no call sites were read, returns the increase of the process.
   */
  List<Kept> allocated() {
    return after.allocatedSince(before);
  }

  /**
   * Collects garbage up to three times, until all bytes left are freed. Returns the freed bytes;
   * {@code NaN} if the live bytes are unknown.
   */
  double left() {
    return after.sites().isEmpty() ? after.liveBytes() - before.liveBytes() : Kept.bytes(kept());
  }

  /** On a busy machine, cleaners may still free memory after the wait of collectGarbage(). */
  double collect() {
    double freed = Double.NaN;
    double left = left();
    // Native memory at one moment. @param liveBytes the live bytes of the selected call sites; of
    // the process if none were read @param sites the selected call sites by number @param
    // bytesByName the live bytes by the name of the call site, which several sites may share @param
    // withoutSite the allocations so far for which the table of call sites had no room @param
    // notFollowed the allocations so far that the library could not follow; they count as freed
    for (int i = 0; i < MOST_COLLECTIONS && !(freed >= left); i++) {
      watch.collectGarbage();
      freed = Math.max(0, after.liveBytes() - watch.read().liveBytes());
    }
    return freed;
  }
}
