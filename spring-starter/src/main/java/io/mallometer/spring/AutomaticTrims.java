package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.time.Duration;

/** Trims at the interval that {@code mallometer.trim.interval} names, while the context is open. */
final class AutomaticTrims implements AutoCloseable {

  private final Mallometer.Subscription subscription;

  AutomaticTrims(Mallometer mallometer, Duration interval, double leastShare) {
    subscription = mallometer.allocator().trimEvery(interval, leastShare);
  }

  @Override
  public void close() {
    subscription.close();
  }
}
