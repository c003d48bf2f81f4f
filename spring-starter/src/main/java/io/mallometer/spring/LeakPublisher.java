package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationEventPublisher;

/** Publishes each leak as an application event, from the time on that listeners exist. */
final class LeakPublisher implements SmartInitializingSingleton, AutoCloseable {

  private final Mallometer mallometer;
  private final ApplicationEventPublisher events;
  private Mallometer.@Nullable Subscription subscription;

  LeakPublisher(Mallometer mallometer, ApplicationEventPublisher events) {
    this.mallometer = mallometer;
    this.events = events;
  }

  @Override
  public synchronized void afterSingletonsInstantiated() {
    subscription =
        mallometer
            .leaks()
            .onLeak(verdict -> events.publishEvent(new LeakEvent(mallometer, verdict)));
  }

  @Override
  public synchronized void close() {
    if (subscription != null) {
      subscription.close();
      subscription = null;
    }
  }
}
