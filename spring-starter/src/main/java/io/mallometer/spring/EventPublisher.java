package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.util.List;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes huge requests and leaks as application events, once their listeners exist. */
final class EventPublisher implements SmartInitializingSingleton, AutoCloseable {

  private final Mallometer mallometer;
  private final ApplicationEventPublisher events;
  private List<Mallometer.Subscription> subscriptions = List.of();

  EventPublisher(Mallometer mallometer, ApplicationEventPublisher events) {
    this.mallometer = mallometer;
    this.events = events;
  }

  @Override
  public synchronized void afterSingletonsInstantiated() {
    subscriptions =
        List.of(
            mallometer
                .allocator()
                .onHugeAllocation(
                    (allocation, missedBefore) ->
                        events.publishEvent(
                            new HugeAllocationEvent(mallometer, allocation, missedBefore))),
            mallometer
                .leaks()
                .onLeak(verdict -> events.publishEvent(new LeakEvent(mallometer, verdict))));
  }

  @Override
  public synchronized void close() {
    subscriptions.forEach(Mallometer.Subscription::close);
    subscriptions = List.of();
  }
}
