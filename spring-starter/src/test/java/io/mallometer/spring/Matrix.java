package io.mallometer.spring;

import org.springframework.boot.WebApplicationType;

/**
 * The versions and settings with which this JVM runs the tests. The build passes them as system
 * properties.
 */
final class Matrix {

  private Matrix() {}

  static String boot() {
    return System.getProperty("matrix.boot", "3.5.16");
  }

  static boolean oldest() {
    return boot().startsWith("3.5.");
  }

  /**
   * Returns whether Spring Boot has its newest version. Tests for which one version is enough run
   * only on the newest.
   */
  static boolean newest() {
    return boot().startsWith("4.1.");
  }

  /** Returns the web stack that must be on the class path. */
  static WebApplicationType web() {
    return WebApplicationType.valueOf(System.getProperty("matrix.web", "SERVLET"));
  }

  static boolean servlet() {
    return web() == WebApplicationType.SERVLET;
  }

  static boolean preloaded() {
    return Boolean.getBoolean("matrix.preloaded");
  }

  static boolean servletPreloaded() {
    return servlet() && preloaded();
  }
}
