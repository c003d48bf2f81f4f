package io.mallometer.spring;

import org.springframework.boot.WebApplicationType;

/**
 * The versions and settings that this JVM tests: one cell of the matrix of all combinations. The
 * build states them in system properties.
 */
final class Matrix {

  private Matrix() {}

  /** Returns the version of Spring Boot that must be on the class path. */
  static String boot() {
    return System.getProperty("matrix.boot", "3.5.16");
  }

  /** Returns whether this is the oldest version of Spring Boot that is tested. */
  static boolean oldest() {
    return boot().startsWith("3.5.");
  }

  /**
   * Returns whether this is the newest version of Spring Boot, which alone is tested on each JDK.
   * Tests run only with it if they depend on the JDK, or if one version suffices.
   */
  static boolean newest() {
    return boot().startsWith("4.1.");
  }

  /** Returns the web stack that must be on the class path. */
  static WebApplicationType web() {
    return WebApplicationType.valueOf(System.getProperty("matrix.web", "SERVLET"));
  }

  /** Returns whether the web stack is servlets, where one server can hold many applications. */
  static boolean servlet() {
    return web() == WebApplicationType.SERVLET;
  }

  /** Returns whether the native library was preloaded into this JVM. */
  static boolean preloaded() {
    return Boolean.getBoolean("matrix.preloaded");
  }
}
