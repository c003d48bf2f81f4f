package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.util.List;

/**
 * Subscriptions that a context ends when it closes.
 *
 * @param all the subscriptions, the oldest first
 */
record OpenSubscriptions(List<Mallometer.Subscription> all) implements AutoCloseable {

  @Override
  public void close() {
    all.forEach(Mallometer.Subscription::close);
  }
}
