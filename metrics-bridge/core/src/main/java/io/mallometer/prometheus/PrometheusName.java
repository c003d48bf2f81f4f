package io.mallometer.prometheus;

/** Makes the name of a Prometheus metric from a meter's name and unit, as Micrometer does. */
final class PrometheusName {

  private PrometheusName() {}

  /**
   * Returns the name with underscores for dots and with the unit: {@code native_malloc_live_bytes}.
   */
  static String of(String name, String unit) {
    String underscored = name.replace('.', '_');
    return unit.isEmpty() ? underscored : underscored + "_" + unit;
  }
}
