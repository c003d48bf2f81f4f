package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes each large request as an application event, from the time on that listeners exist. */
final class LargeAllocationPublisher implements SmartInitializingSingleton, AutoCloseable {

  private final Mallometer mallometer;
  private final ApplicationEventPublisher events;
  private Mallometer.@Nullable Subscription subscription;

  LargeAllocationPublisher(Mallometer mallometer, ApplicationEventPublisher events) {
    this.mallometer = mallometer;
    this.events = events;
  }

  @Override
  public synchronized void afterSingletonsInstantiated() {
    subscription =
        mallometer
            .allocator()
            .onHugeAllocation(
                (allocation, missedBefore) ->
                    events.publishEvent(
                        new LargeAllocationEvent(mallometer, allocation, missedBefore)));
  }

  @Override
  public synchronized void close() {
    if (subscription != null) {
      subscription.close();
      subscription = null;
    }
  }
}
