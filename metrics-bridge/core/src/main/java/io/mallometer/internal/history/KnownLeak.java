package io.mallometer.internal.history;

import io.mallometer.model.LeakEvidence;
import java.time.Instant;

/**
 * A stack that was a leak in some run.
 *
 * @param stack its fingerprint
 * @param time since when it was a leak
 * @param evidence on what that stood: {@link LeakEvidence#LOST} or {@link LeakEvidence#OUTLASTED}
 */
public record KnownLeak(String stack, Instant time, LeakEvidence evidence) {

  /** As many are recorded. */
  public static final int MOST = 64;
}
