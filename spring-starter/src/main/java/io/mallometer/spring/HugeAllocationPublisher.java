package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes each huge request as an application event, from the time on that listeners exist. */
final class HugeAllocationPublisher implements SmartInitializingSingleton, AutoCloseable {

  private final Mallometer mallometer;
  private final ApplicationEventPublisher events;
  private Mallometer.@Nullable Subscription subscription;

  HugeAllocationPublisher(Mallometer mallometer, ApplicationEventPublisher events) {
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
                        new HugeAllocationEvent(mallometer, allocation, missedBefore)));
  }

  @Override
  public synchronized void close() {
    if (subscription != null) {
      subscription.close();
      subscription = null;
    }
  }
}
