package io.mallometer.prometheus;

/**
 * How Prometheus' naming rules turn a meter's name and unit into a metric's, as Micrometer does.
 */
final class PrometheusName {

  private PrometheusName() {}

  /**
   * Dots become underscores and the unit, if any, is appended: {@code native_malloc_live_bytes}.
   */
  static String of(String name, String unit) {
    String underscored = name.replace('.', '_');
    return unit.isEmpty() ? underscored : underscored + "_" + unit;
  }
}
