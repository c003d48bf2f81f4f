package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.MonitorOptions;
import java.util.List;

/** The monitors that {@code mallometer.monitor.*} names, while the context is open. */
final class StartedMonitors implements AutoCloseable {

  private final List<Mallometer.Subscription> subscriptions;

  StartedMonitors(Mallometer mallometer, List<MonitorOptions> monitors) {
    subscriptions = monitors.stream().map(mallometer.monitors()::start).toList();
  }

  @Override
  public void close() {
    subscriptions.forEach(Mallometer.Subscription::close);
  }
}
