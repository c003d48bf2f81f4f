package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import java.io.Serial;
import java.time.Clock;
import java.time.ZoneOffset;
import org.springframework.context.ApplicationEvent;

/**
 * A request for more native memory than {@code MALLOMETER_HUGE} (64 MiB by default).
 *
 * <pre>{@code
 * @EventListener
 * void onHugeAllocation(HugeAllocationEvent event) {
 *   log.warn("{} asked for {} bytes", event.allocation().threadName(), event.allocation().bytes());
 * }
 * }</pre>
 *
 * <p>Each context publishes a request once, on a thread of mallometer, at most a poll interval
 * after the request. It publishes at most 64 events a second. When a context becomes ready, it
 * publishes the earlier requests that the library still knows.
 */
public final class HugeAllocationEvent extends ApplicationEvent {

  @Serial private static final long serialVersionUID = 1;

  private final transient HugeAllocation allocation;
  private final long missedBefore;

  HugeAllocationEvent(Mallometer source, HugeAllocation allocation, long missedBefore) {
    super(source, Clock.fixed(allocation.time(), ZoneOffset.UTC));
    this.allocation = allocation;
    this.missedBefore = missedBefore;
  }

  /** Returns the request: its size, time and thread. */
  public HugeAllocation allocation() {
    return allocation;
  }

  /** Returns how many requests were lost between the previously published request and this one. */
  public long missedBefore() {
    return missedBefore;
  }
}
