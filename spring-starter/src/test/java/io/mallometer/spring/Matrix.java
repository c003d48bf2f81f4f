package io.mallometer.spring;

import org.springframework.boot.WebApplicationType;

/** The cell of the matrix that this JVM runs; the build names it by system properties. */
final class Matrix {

  private Matrix() {}

  /** The Spring Boot that must be on the class path. */
  static String boot() {
    return System.getProperty("matrix.boot", "3.5.16");
  }

  /** Whether that is the oldest: for what need not run on each. */
  static boolean oldest() {
    return boot().startsWith("3.5.");
  }

  /** Whether that is the newest, which runs on each JDK: for what depends on the JDK alone. */
  static boolean newest() {
    return boot().startsWith("4.1.");
  }

  /** The web stack that must be on the class path. */
  static WebApplicationType web() {
    return WebApplicationType.valueOf(System.getProperty("matrix.web", "SERVLET"));
  }

  /** Whether the web stack is that of servlets, where one server can hold many applications. */
  static boolean servlet() {
    return web() == WebApplicationType.SERVLET;
  }

  /** Whether the native library was preloaded into this JVM. */
  static boolean preloaded() {
    return Boolean.getBoolean("matrix.preloaded");
  }
}
