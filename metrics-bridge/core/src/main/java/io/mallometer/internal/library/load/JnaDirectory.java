package io.mallometer.internal.library.load;

import io.mallometer.internal.library.ProcFiles;
import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * The directory to which JNA unpacks its native part, chosen as in {@code
 * com.sun.jna.Native.getTempDir}. Checked before JNA is loaded: if JNA cannot use it, JNA logs a
 * stack trace, and cannot be tried again.
 */
final class JnaDirectory {

  private JnaDirectory() {}

  static Optional<String> obstacle() {
    Properties properties = System.getProperties();
    return unpacks(properties)
        ? obstacle(directory(System.getenv(), properties), ProcFiles.mounts().orElse(""))
        : Optional.empty();
  }

  private static boolean unpacks(Properties properties) {
    return properties.getProperty("jna.boot.library.path") == null
        && properties.getProperty("jna.nosys", "true").equalsIgnoreCase("true")
        && !properties.getProperty("jna.nounpack", "false").equalsIgnoreCase("true");
  }

  /** Returns the directory. Creates it if it is missing, as JNA would do. */
  static File directory(Map<String, String> environment, Properties properties) {
    String wanted = properties.getProperty("jna.tmpdir");
    String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
    File cache =
        caches.isBlank()
            ? new File(properties.getProperty("user.home"), ".cache")
            : new File(caches);
    File directory = wanted == null ? new File(cache, "JNA/temp") : new File(wanted);
    boolean made = directory.mkdirs();
    return wanted != null || made || directory.canWrite()
        ? directory
        : new File(properties.getProperty("java.io.tmpdir"));
  }

  /**
   * Returns the fault of a directory; empty if there is none.
   *
   * @param mountinfo the text of {@code /proc/self/mountinfo}; empty if it is unknown
   */
  static Optional<String> obstacle(File directory, String mountinfo) {
    if (!directory.exists()) {
      return Optional.of(directory + " does not exist");
    }
    if (!directory.isDirectory()) {
      return Optional.of(directory + " is not a directory");
    }
    if (!directory.canWrite()) {
      return Optional.of(directory + " cannot be written to");
    }
    try {
      return Mounts.noexec(mountinfo, directory.toPath().toRealPath())
          ? Optional.of(directory + " is mounted noexec")
          : Optional.empty();
    } catch (IOException e) {
      return Optional.of(directory + " cannot be found: " + e);
    }
  }
}
