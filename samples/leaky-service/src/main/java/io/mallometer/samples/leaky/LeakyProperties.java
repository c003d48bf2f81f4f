package io.mallometer.samples.leaky;

import java.util.Set;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How hard the service works and how much it leaks.
 *
 * @param load the built-in work
 * @param leaks the leaks
 */
@ConfigurationProperties("leaky")
record LeakyProperties(@DefaultValue Load load, @DefaultValue Leaks leaks) {

  /**
   * The built-in work.
   *
   * @param reportsPerSecond how many reports the service produces on its own, 0 to {@value
   *     ReportLoad#MOST_REPORTS_PER_SECOND}
   */
  record Load(@DefaultValue("5") int reportsPerSecond) {}

  /**
   * The leaks.
   *
   * @param on the leaks that are on from the start
   * @param rate how much native memory each leak that is on loses in a second
   * @param cap how much native memory each leak may lose in all, so that a forgotten demo cannot
   *     eat the machine
   * @param resident how large the resident set of the process may become before all leaks stop
   */
  record Leaks(
      @DefaultValue Set<Leak> on,
      @DefaultValue("1MB") DataSize rate,
      @DefaultValue("256MB") DataSize cap,
      @DefaultValue("1TB") DataSize resident) {}
}
