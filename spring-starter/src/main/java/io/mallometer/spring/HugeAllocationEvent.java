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
 * <p>A context publishes each request once, on a thread of mallometer, up to a poll interval later,
 * at most 64 a second. Requests from before the context was ready are published when it is ready,
 * if the library still knows them.
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

  /**
   * Returns the number of requests that were lost between the previously published one and this
   * one.
   */
  public long missedBefore() {
    return missedBefore;
  }
}
