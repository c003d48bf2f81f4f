package io.mallometer.internal.interposer;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Where a program may keep files for its user that it could make again, best first. */
final class CacheDirectories {

  private static final String NAME = "mallometer";

  private CacheDirectories() {}

  /**
   * Returns whether a file lies in a directory or on a file system that does not outlast the
   * program, the container or the machine.
   */
  static boolean isTemporary(Path file) {
    List<Path> found = candidates();
    boolean isLast = !found.isEmpty() && file.startsWith(found.get(found.size() - 1));
    return isLast || Mounts.temporary(ProcFiles.mounts().orElse(""), file);
  }

  static List<Path> candidates() {
    return candidates(System.getenv(), System.getProperties());
  }

  /** As the XDG base directory specification has it, then the directory for temporary files. */
  static List<Path> candidates(Map<String, String> environment, Properties properties) {
    List<Path> found = new ArrayList<>();
    add(found, environment.getOrDefault("XDG_CACHE_HOME", ""), NAME);
    add(found, properties.getProperty("user.home", ""), ".cache", NAME);
    String user = properties.getProperty("user.name", "").replaceAll("[^A-Za-z0-9_.-]", "_");
    add(found, properties.getProperty("java.io.tmpdir", ""), NAME + "-" + user);
    return found;
  }

  /** Relative paths are ignored, as the specification demands; so is the "?" of an unknown user. */
  private static void add(List<Path> found, String base, String... more) {
    try {
      Path directory = Path.of(base, more);
      if (directory.isAbsolute()) {
        found.add(directory);
      }
    } catch (InvalidPathException e) {
      return;
    }
  }
}
