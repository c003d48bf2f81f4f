package io.mallometer.internal.library.load;

import java.util.List;
import java.util.Locale;

/**
 * Platforms on which the library was compiled and simulated, but never run. Such a library is
 * loaded only if the environment variable {@code MALLOMETER_EXPERIMENTAL} or the system property
 * {@code mallometer.experimental} names the platform. Several names are separated by commas.
 */
public final class Experimental {

  static final String VARIABLE = "MALLOMETER_EXPERIMENTAL";
  static final String PROPERTY = "mallometer.experimental";
  static final String MACOS = "macos";

  private Experimental() {}

  public static boolean onMacos() {
    return isMacos() && allows(MACOS);
  }

  static boolean isMacos() {
    try {
      return MACOS.equals(Platform.os(System.getProperty("os.name", "")));
    } catch (SecurityException e) {
      return false;
    }
  }

  static boolean allows(String os) {
    return allows(os, System.getenv().getOrDefault(VARIABLE, ""), System.getProperty(PROPERTY, ""));
  }

  static boolean allows(String os, String variable, String property) {
    if (!os.equals(MACOS)) {
      return true;
    }
    String asked = (variable + "," + property).toLowerCase(Locale.ROOT);
    return List.of(asked.split("[, ]+")).contains(os);
  }
}
