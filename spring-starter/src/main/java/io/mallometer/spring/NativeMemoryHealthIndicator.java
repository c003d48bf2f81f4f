package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * Native memory in the endpoint {@code health} of Spring Boot 4.x: for people to read, never down.
 * Up while native memory is counted, else unknown.
 */
final class NativeMemoryHealthIndicator implements HealthIndicator {

  private final Mallometer mallometer;

  NativeMemoryHealthIndicator(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  @Override
  public Health health() {
    Health.Builder health =
        mallometer.snapshot().status().active() ? Health.up() : Health.unknown();
    return health.withDetails(NativeMemoryDetails.health(mallometer.snapshot())).build();
  }
}
