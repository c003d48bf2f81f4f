package io.mallometer.spring;

import io.mallometer.MallometerOptions;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * What can be set in the application's configuration.
 *
 * @param enabled Whether to read and publish what the native library counts. Does not stop the
 *     counting itself; the environment variable MALLOMETER_ENABLED does.
 * @param pollInterval Time between two readings of the native counters. At least 10ms.
 * @param metrics Metrics.
 * @param jmx JMX.
 */
@ConfigurationProperties("mallometer")
public record MallometerProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("5s") Duration pollInterval,
    @DefaultValue Metrics metrics,
    @DefaultValue Jmx jmx) {

  /**
   * Metrics.
   *
   * @param enabled Whether to publish native memory as Micrometer meters and, in Prometheus, as a
   *     histogram of request sizes.
   */
  public record Metrics(@DefaultValue("true") boolean enabled) {}

  /**
   * JMX.
   *
   * @param enabled Whether to register the MBean io.mallometer:type=NativeMemory in the platform's
   *     MBean server.
   */
  public record Jmx(@DefaultValue("true") boolean enabled) {}

  /**
   * The options of the facade.
   *
   * @throws InvalidConfigurationPropertyValueException if the poll interval is too short
   */
  MallometerOptions options() {
    if (pollInterval.compareTo(MallometerOptions.SHORTEST_POLL_INTERVAL) < 0) {
      throw new InvalidConfigurationPropertyValueException(
          "mallometer.poll-interval",
          pollInterval,
          "it must be at least %d ms"
              .formatted(MallometerOptions.SHORTEST_POLL_INTERVAL.toMillis()));
    }
    return MallometerOptions.defaults().withPollInterval(pollInterval);
  }
}
