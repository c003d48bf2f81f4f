package io.mallometer.internal.interposer;

import java.util.List;
import java.util.Locale;

/**
 * Platforms on which the library was compiled and simulated, and never run. Such a library is
 * loaded only where the user asks for it by name: by the environment variable {@code
 * MALLOMETER_EXPERIMENTAL} or the system property {@code mallometer.experimental}, names separated
 * by commas.
 */
public final class Experimental {

  static final String VARIABLE = "MALLOMETER_EXPERIMENTAL";
  static final String PROPERTY = "mallometer.experimental";
  static final String MACOS = "macos";

  private Experimental() {}

  /** Returns whether this is macOS, and its library is asked for. */
  public static boolean onMacos() {
    return isMacos() && allows(MACOS);
  }

  /** Whether this is macOS; false where a security manager keeps the system's name. */
  static boolean isMacos() {
    try {
      return MACOS.equals(Platform.os(System.getProperty("os.name", "")));
    } catch (SecurityException e) {
      return false;
    }
  }

  /** Whether the library of an operating system may be loaded. */
  static boolean allows(String os) {
    return allows(os, System.getenv().getOrDefault(VARIABLE, ""), System.getProperty(PROPERTY, ""));
  }

  /**
   * The same.
   *
   * @param variable the value of the environment variable
   * @param property the value of the system property
   */
  static boolean allows(String os, String variable, String property) {
    if (!os.equals(MACOS)) {
      return true;
    }
    String asked = (variable + "," + property).toLowerCase(Locale.ROOT);
    return List.of(asked.split("[, ]+")).contains(os);
  }
}
