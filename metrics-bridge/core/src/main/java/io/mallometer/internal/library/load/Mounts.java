package io.mallometer.internal.library.load;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;

/** Reads {@code /proc/self/mountinfo}, as described in proc(5). */
final class Mounts {

  private static final int MOUNT_POINT = 4;
  private static final int MOUNT_OPTIONS = 5;

  private static final String SEPARATOR = " - ";

  /** The file systems that are empty or new at each start of a container or machine. */
  private static final Set<String> TEMPORARY = Set.of("tmpfs", "ramfs", "overlay");

  private Mounts() {}

  /**
   * Returns whether a path lies on a file system that is mounted noexec, so that no library can be
   * mapped; false if unknown.
   *
   * @param mountinfo the text of {@code /proc/self/mountinfo}, in which later lines hide earlier
   *     ones
   * @param path absolute, without symbolic links
   */
  static boolean noexec(String mountinfo, Path path) {
    String[] fields = mountOf(mountinfo, path).split(" ");
    return fields.length > MOUNT_OPTIONS
        && Arrays.asList(fields[MOUNT_OPTIONS].split(",")).contains("noexec");
  }

  /** Returns whether the files at a path are lost when a container ends or the machine restarts. */
  static boolean temporary(String mountinfo, Path path) {
    String mount = mountOf(mountinfo, path);
    int begin = mount.indexOf(SEPARATOR);
    return begin >= 0
        && TEMPORARY.contains(mount.substring(begin + SEPARATOR.length()).split(" ")[0]);
  }

  private static String mountOf(String mountinfo, Path path) {
    Path longest = null;
    String mount = "";
    for (String line : mountinfo.split("\n")) {
      String[] fields = line.split(" ");
      if (fields.length > MOUNT_OPTIONS) {
        Path mountPoint = Path.of(unescape(fields[MOUNT_POINT]));
        if (path.startsWith(mountPoint)
            && (longest == null || mountPoint.getNameCount() >= longest.getNameCount())) {
          longest = mountPoint;
          mount = line;
        }
      }
    }
    return mount;
  }

  private static String unescape(String field) {
    return field
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }
}
