package io.mallometer.internal.process;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The directory with the files of this process' memory cgroup.
 *
 * @param version the version of cgroups, 1 or 2
 * @param mount the mount point of the cgroups: the highest parent that this process can see
 */
record CgroupDirectory(int version, Path path, Path mount) {

  private static final int ROOT = 3;
  private static final int MOUNT_POINT = 4;
  private static final int FIRST_OPTIONAL = 6;

  /**
   * Finds the directory as cgroups(7) describes. A machine may have both versions mounted; {@code
   * /proc/self/cgroup} shows which one controls memory.
   */
  static Optional<CgroupDirectory> find(String cgroups, String mountinfo) {
    Optional<String> ofVersion1 = Optional.empty();
    Optional<String> ofVersion2 = Optional.empty();
    for (String line : cgroups.split("\n")) {
      String[] fields = line.split(":", 3);
      if (fields.length == 3 && Arrays.asList(fields[1].split(",")).contains("memory")) {
        ofVersion1 = Optional.of(fields[2]);
      } else if (fields.length == 3 && fields[0].equals("0") && fields[1].isEmpty()) {
        ofVersion2 = Optional.of(fields[2]);
      }
    }
    return ofVersion1.isPresent()
        ? mounted(1, ofVersion1.get(), mountinfo)
        : ofVersion2.flatMap(cgroup -> mounted(2, cgroup, mountinfo));
  }

  List<Path> upwards() {
    List<Path> all = new ArrayList<>();
    for (Path at = path; at != null && at.startsWith(mount); at = at.getParent()) {
      all.add(at);
    }
    return all;
  }

  private static Optional<CgroupDirectory> mounted(int version, String cgroup, String mountinfo) {
    Optional<CgroupDirectory> found = Optional.empty();
    for (String line : mountinfo.split("\n")) {
      List<String> fields = Arrays.asList(line.split(" "));
      int separator = fields.indexOf("-");
      if (separator >= FIRST_OPTIONAL
          && fields.size() > separator + 3
          && controlsMemory(version, fields.get(separator + 1), fields.get(separator + 3))) {
        try {
          Path mount = Path.of(fields.get(MOUNT_POINT));
          Path path = mount.resolve(below(cgroup, fields.get(ROOT))).normalize();
          found =
              Optional.of(
                  new CgroupDirectory(version, path.startsWith(mount) ? path : mount, mount));
        } catch (InvalidPathException e) {
          continue;
        }
      }
    }
    return found;
  }

  private static boolean controlsMemory(int version, String type, String superOptions) {
    return version == 2
        ? type.equals("cgroup2")
        : type.equals("cgroup") && Arrays.asList(superOptions.split(",")).contains("memory");
  }

  /**
   * Returns the path of the cgroup below the mount point. In a container, {@code /proc/self/cgroup}
   * may have the host's path, of which only the part behind {@code root} is mounted.
   */
  private static String below(String cgroup, String root) {
    String relative = cgroup;
    if (!root.equals("/") && (cgroup.equals(root) || cgroup.startsWith(root + "/"))) {
      relative = cgroup.substring(root.length());
    } else if (!root.equals("/")) {
      relative = "";
    }
    return relative.startsWith("/") ? relative.substring(1) : relative;
  }
}
