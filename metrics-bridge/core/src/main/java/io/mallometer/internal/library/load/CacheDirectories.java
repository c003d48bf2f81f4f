package io.mallometer.internal.library.load;

import io.mallometer.internal.library.ProcFiles;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

final class CacheDirectories {

  private static final String NAME = "mallometer";

  private CacheDirectories() {}

  /**
   * Returns whether a file may be lost when the program or container ends, or the machine restarts.
   */
  static boolean isTemporary(Path file) {
    List<Path> found = candidates();
    boolean isLast = !found.isEmpty() && file.startsWith(found.get(found.size() - 1));
    return isLast || Mounts.temporary(ProcFiles.mounts().orElse(""), file);
  }

  static List<Path> candidates() {
    return candidates(System.getenv(), System.getProperties());
  }

  /** Returns the directories of the XDG specification, then that for temporary files. */
  static List<Path> candidates(Map<String, String> environment, Properties properties) {
    List<Path> found = new ArrayList<>();
    add(found, environment.getOrDefault("XDG_CACHE_HOME", ""), NAME);
    add(found, properties.getProperty("user.home", ""), ".cache", NAME);
    String user = properties.getProperty("user.name", "").replaceAll("[^A-Za-z0-9_.-]", "_");
    add(found, properties.getProperty("java.io.tmpdir", ""), NAME + "-" + user);
    return found;
  }

  /**
   * Adds a directory if its path is absolute. The XDG specification demands that relative paths be
   * ignored. The JDK gives an unknown user the relative home directory "?".
   */
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
