package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.HugeAllocation;
import java.io.Serial;
import java.time.Clock;
import java.time.ZoneOffset;
import org.springframework.context.ApplicationEvent;

/**
 * The old name of {@link HugeAllocationEvent}, for one version.
 *
 * @deprecated listen to {@link HugeAllocationEvent}
 */
@Deprecated(forRemoval = true)
public abstract class LargeAllocationEvent extends ApplicationEvent {

  @Serial private static final long serialVersionUID = 1;

  private final transient HugeAllocation allocation;
  private final long missedBefore;

  LargeAllocationEvent(Mallometer source, HugeAllocation allocation, long missedBefore) {
    super(source, Clock.fixed(allocation.time(), ZoneOffset.UTC));
    this.allocation = allocation;
    this.missedBefore = missedBefore;
  }

  /** The request: its size, time and thread. */
  public HugeAllocation allocation() {
    return allocation;
  }

  /**
   * Returns the number of requests between this one and the previous published one that are not
   * known.
   */
  public long missedBefore() {
    return missedBefore;
  }
}
