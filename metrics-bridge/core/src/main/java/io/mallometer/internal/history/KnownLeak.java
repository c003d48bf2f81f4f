package io.mallometer.internal.history;

import io.mallometer.model.LeakEvidence;
import java.time.Instant;

/**
 * A call site whose memory leaked in an earlier run. A run that knows the leak finds it sooner.
 *
 * @param stack the fingerprint of its stack
 * @param time the time since which it leaked
 * @param evidence the evidence: {@link LeakEvidence#LOST} or {@link LeakEvidence#OUTLASTED}
 */
public record KnownLeak(String stack, Instant time, LeakEvidence evidence) {

  public static final int MOST = 64;
}
