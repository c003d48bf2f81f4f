package io.mallometer.view;

import io.mallometer.model.Baseline;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.SiteSummary;
import io.mallometer.model.Snapshot;
import org.jspecify.annotations.Nullable;

/**
 * Memory allocated before mallometer attached. It is part of live bytes until it is freed, and of
 * no call site.
 *
 * @param bytes what was in use at the attach
 * @param errorBytes how much more or less that may have been; if it is unknown, the most
 * @param liveBytes what of it is still in use, estimated
 * @param text the same in words
 */
public record AllocatedBefore(
    @Whole double bytes, @Whole double errorBytes, @Whole double liveBytes, String text) {

  /** Null without attach. */
  static @Nullable AllocatedBefore of(Snapshot snapshot) {
    if (snapshot.process().isEmpty() || snapshot.self().attachment().isEmpty()) {
      return null;
    }
    Baseline baseline = snapshot.process().map(NativeCounters::baseline).get();
    return new AllocatedBefore(
        baseline.bytes(),
        baseline.errorBytes(),
        snapshot.sites().map(SiteSummary::allocatedBeforeBytes).orElse(Double.NaN),
        baseline.sentence());
  }
}
