package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;

/**
 * Native memory in the endpoint {@code health} of Spring Boot 3.5: for people to read, never down.
 * Up while native memory is counted, else unknown.
 */
final class ActuatorNativeMemoryHealthIndicator implements HealthIndicator {

  private final Mallometer mallometer;

  ActuatorNativeMemoryHealthIndicator(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public Health health() {
    Health.Builder health =
        mallometer.snapshot().status().active() ? Health.up() : Health.unknown();
    return health.withDetails(NativeMemoryDetails.health(mallometer.snapshot())).build();
  }
}
