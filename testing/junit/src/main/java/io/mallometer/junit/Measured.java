package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Watch;
import java.util.List;

/**
 * What was live before and after some runs of a test.
 *
 * @param test the class whose stacks are those of the test
 */
record Measured(Watch watch, Class<?> test, Reading before, Reading after) {

  private static final int MOST_COLLECTIONS = 3;

  /** How many allocations found no room among the call sites: what they keep is not known. */
  long withoutSite() {
    return after.withoutSite() - before.withoutSite();
  }

  /** The call sites that keep more. */
  List<Kept> kept() {
    return after.keptSince(before);
  }

  /** The call sites that allocated. */
  List<Kept> allocated() {
    return after.allocatedSince(before);
  }

  /** What is left, in bytes: of the call sites that keep more, whatever others freed. */
  double left() {
    return after.sites().isEmpty() ? after.liveBytes() - before.liveBytes() : Kept.bytes(kept());
  }

  /**
   * How much a garbage collection frees of what is left, in bytes; {@code NaN} if there was none.
   */
  double collect() {
    double freed = Double.NaN;
    double left = left();
    // On a busy machine the cleaners may run only after the first collection was waited for.
    for (int i = 0; i < MOST_COLLECTIONS && !(freed >= left) && watch.collectGarbage(); i++) {
      freed = Math.max(0, after.liveBytes() - watch.read().liveBytes());
    }
    return freed;
  }
}
