package io.mallometer.samples.leaky;

import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The settings of the service.
 *
 * @param load the reports that the service produces by itself
 * @param leaks the leaks
 */
@ConfigurationProperties("leaky")
record LeakyProperties(@DefaultValue Load load, @DefaultValue Leaks leaks) {

  /**
   * The reports that the service produces by itself.
   *
   * @param reportsPerSecond the reports per second, 0 to {@value
   *     ReportLoad#MOST_REPORTS_PER_SECOND}
   */
  record Load(@DefaultValue("5") int reportsPerSecond) {}

  /**
   * The leaks.
   *
   * @param on the leaks that are on from the start
   * @param rate the native memory that each leak loses per second
   * @param cap the native memory that each leak may lose in total
   * @param resident all leaks stop when the resident set of the process reaches this size
   */
  record Leaks(
      @DefaultValue Set<Leak> on,
      @DefaultValue("1MB") DataSize rate,
      @DefaultValue("256MB") DataSize cap,
      @DefaultValue("1TB") DataSize resident) {}
}
