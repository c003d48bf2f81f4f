package io.mallometer.internal.interposer;

import java.nio.file.Path;
import java.util.Arrays;

/** Reads {@code /proc/self/mountinfo}, as described in proc(5). */
final class Mounts {

  private static final int MOUNT_POINT = 4;
  private static final int MOUNT_OPTIONS = 5;

  private Mounts() {}

  /**
   * Whether a path lies on a file system that is mounted noexec, from which no library can be
   * mapped. False if the text does not tell.
   *
   * @param mountinfo the text of {@code /proc/self/mountinfo}; later lines hide earlier ones
   * @param path absolute, without symbolic links
   */
  static boolean noexec(String mountinfo, Path path) {
    Path longest = null;
    boolean noexec = false;
    for (String line : mountinfo.split("\n")) {
      String[] fields = line.split(" ");
      if (fields.length > MOUNT_OPTIONS) {
        Path mountPoint = Path.of(unescape(fields[MOUNT_POINT]));
        if (path.startsWith(mountPoint)
            && (longest == null || mountPoint.getNameCount() >= longest.getNameCount())) {
          longest = mountPoint;
          noexec = Arrays.asList(fields[MOUNT_OPTIONS].split(",")).contains("noexec");
        }
      }
    }
    return noexec;
  }

  /** The kernel writes space, tab, newline and backslash in octal. */
  private static String unescape(String field) {
    return field
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
  }
}
