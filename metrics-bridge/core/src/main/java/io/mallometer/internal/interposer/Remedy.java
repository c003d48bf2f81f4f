package io.mallometer.internal.interposer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.StringJoiner;

/** Variables and options that the user can copy from a log line. */
final class Remedy {

  private static final String SUITABLE = "a writable directory that is not mounted noexec";

  private Remedy() {}

  /**
   * Count from now on or, started again, from the start. The process has another id outside its
   * container, and the user of a dependency another path to the command line, so neither is named.
   */
  static String attach() {
    return preload(
        Availability.switchedOff()
            .map(setting -> setting + " forbids attaching; to count from the start: ")
            .orElse(
                "mallometer's command line (attach PID) starts counting; to count from the start: "));
  }

  /** Start again with the library, which is unpacked for that. */
  static String preload() {
    return preload("");
  }

  /** Where the library cannot be unpacked, it cannot be attached either. */
  private static String preload(String before) {
    try {
      Path library = BundledLibrary.extract();
      String preloaded = System.getenv().getOrDefault(BundledLibrary.preloadVariable(), "");
      return before
          + (CacheDirectories.isTemporary(library)
              ? unpack(library.getParent() + " may be empty at the next start")
              : preload(library, preloaded));
    } catch (IOException e) {
      return unpack(String.valueOf(e.getMessage()));
    }
  }

  private static String unpack(String why) {
    return "Unpack the library: java -jar mallometer-agent.jar extract DIR, where DIR is "
        + SUITABLE
        + ", and start with "
        + BundledLibrary.preloadVariable()
        + "=DIR/"
        + Platform.current().libraryFile()
        + " ("
        + why
        + ")";
  }

  /** Returns the remedy if there is no suitable directory for the library or JNA's native part. */
  static String place() {
    return "Set XDG_CACHE_HOME to " + SUITABLE;
  }

  /** Keeps what is preloaded already, behind ours: the first malloc in the list is called. */
  static String preload(Path library, String preloaded) {
    StringJoiner list =
        new StringJoiner(":", BundledLibrary.preloadVariable() + "=", "").add(library.toString());
    for (String entry : preloaded.split("[: ]+")) {
      if (!entry.isEmpty() && !entry.contains("libmallometer")) {
        list.add(entry);
      }
    }
    return list.toString();
  }

  static String allowNativeAccess() {
    return option("--enable-native-access=ALL-UNNAMED");
  }

  /** Where the library itself could be unpacked, JNA's native part can be, too. */
  static String unpackJna() {
    try {
      return option("-Djna.tmpdir=" + BundledLibrary.extract().getParent());
    } catch (IOException e) {
      return option("-Djna.tmpdir=DIR")
          + ", where DIR is "
          + SUITABLE
          + " ("
          + e.getMessage()
          + ")";
    }
  }

  private static String option(String option) {
    return "Add " + option + " to the java command";
  }

  static String permit() {
    return "Grant java.security.AllPermission to the jars of mallometer and JNA in the policy file,"
        + " or start without a security manager";
  }

  static String addJna() {
    return "Add the dependency net.java.dev.jna:jna, version 5.12 or newer";
  }

  /** A runtime that jlink made may lack modules. */
  static String addModule() {
    return "Add --add-modules java.logging,java.management to the java command,"
        + " or to the jlink command that made this runtime";
  }

  static String jvm() {
    return "Run the application on a JVM";
  }

  /** Where the jar carries no library for this platform. */
  static String elsewhere(Platform platform) {
    if (platform.isSupported()) {
      return "Use jars of mallometer that carry "
          + platform.directory()
          + ": those built on such a system, or by mvn -P "
          + (platform.isMacos() ? "macos" : "all-platforms");
    }
    return platform.isMacos()
        ? container() + "; counting on macOS itself is experimental (docs/reference/macos.md)"
        : container();
  }

  static String container() {
    return "Run the application in a Linux container for x86-64 or aarch64:"
        + " docker run ... eclipse-temurin:25-jre";
  }

  static String enable(String setting) {
    return "Start without " + setting;
  }

  static String count() {
    return "Call mallometer_enable(), or restart the process";
  }

  static String include() {
    return "Start without MALLOMETER_ONLY, or name java in it";
  }
}
