package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import java.io.Serial;

/**
 * A request for native memory above the size {@code MALLOMETER_HUGE} (64 MiB), up to a poll
 * interval after it was made.
 *
 * <pre>{@code
 * @EventListener
 * void onHugeAllocation(HugeAllocationEvent event) {
 *   log.warn("{} asked for {} bytes", event.allocation().threadName(), event.allocation().bytes());
 * }
 * }</pre>
 *
 * <p>Each is published once in a context, on a thread of mallometer's, at most 64 a second. Those
 * of the time before the context was ready are published then, as far as they are known.
 */
@SuppressWarnings("removal") // listeners of the old type hear this event for one version
public final class HugeAllocationEvent extends LargeAllocationEvent {

  @Serial private static final long serialVersionUID = 1;

  HugeAllocationEvent(Mallometer source, HugeAllocation allocation, long missedBefore) {
    super(source, allocation, missedBefore);
  }
}
