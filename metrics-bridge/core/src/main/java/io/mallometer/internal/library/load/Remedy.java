package io.mallometer.internal.library.load;

import io.mallometer.internal.library.abi.LoadedLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.StringJoiner;

/** Variables and options that the user can copy from a log line. */
final class Remedy {

  private static final String SUITABLE = "a writable directory that is not mounted noexec";

  private Remedy() {}

  /**
   * Returns how to start counting now, and how to count from the start of the next run. The text
   * has no process id, because a process in a container has another id outside.
   */
  static String attach() {
    return preload(
        Availability.switchedOff()
            .map(setting -> setting + " forbids attaching; to count from the start: ")
            .orElse(
                "mallometer's command line (attach PID) starts counting; to count from the start: "));
  }

  /**
   * Returns how to preload the library at the next start of the program. Unpacks the library if
   * possible.
   */
  static String preload() {
    return preload("");
  }

  /**
   * Returns {@code before}, followed by the variable that preloads the library, such as {@code
   * LD_PRELOAD=PATH}. If the library's directory may be empty at the next start, or the library
   * cannot be unpacked there, the text tells how to unpack the library elsewhere.
   */
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

  static String place() {
    return "Set XDG_CACHE_HOME to " + SUITABLE;
  }

  /**
   * Returns the variable that preloads the library. The library comes first, because the program
   * calls the malloc of the first library.
   */
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

  /** Returns the option that makes JNA unpack its native part into the library's directory. */
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

  static String addModule() {
    return "Add --add-modules java.logging,java.management to the java command,"
        + " or to the jlink command that made this runtime";
  }

  static String jvm() {
    return "Run the application on a JVM";
  }

  static String elsewhere(Platform platform) {
    if (platform.isSupported()) {
      return "Use jars of mallometer that carry "
          + platform.directory()
          + ": those built on such a system, or by mvn -P "
          + (platform.isMacos() ? "macos" : "all-platforms");
    }
    return platform.isMacos()
        ? container()
            + "; counting on macOS itself is experimental (docs/reference/compatibility.md#macos)"
        : container();
  }

  static String container() {
    return LoadedLibrary.CONTAINER;
  }

  static String enable(String setting) {
    return "Start without " + setting;
  }
}
