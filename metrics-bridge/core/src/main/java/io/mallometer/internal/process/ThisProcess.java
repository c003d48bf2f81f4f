package io.mallometer.internal.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What identifies this process's surroundings to somebody who looks later.
 *
 * @param bootId the kernel's name for the machine's run; empty if unknown
 * @param cgroup the directory of the memory cgroup; empty if unknown
 * @param cgroupInode the directory's inode, which tells it from a later one of that name; 0 if
 *     unknown
 * @param startTicks when the process started, in ticks since the machine did; 0 if unknown
 */
public record ThisProcess(String bootId, String cgroup, long cgroupInode, long startTicks) {

  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /** Looks around. Never throws. */
  public static ThisProcess look() {
    ProcessFiles files = new ProcessFiles();
    Optional<Path> cgroup =
        CgroupDirectory.find(files.own("cgroup").orElse(""), files.own("mountinfo").orElse(""))
            .map(CgroupDirectory::path);
    return new ThisProcess(
        files.text(BOOT_ID).orElse("").strip(),
        cgroup.map(Path::toString).orElse(""),
        cgroup.map(ThisProcess::inode).orElse(0L),
        startTicks(files.own("stat").orElse("")));
  }

  /** The 22nd field, see proc(5); the second is in parentheses and may hold anything. */
  static long startTicks(String stat) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
    return fields.length > 19 ? Figures.decimal(fields[19]).orElse(0) : 0;
  }

  private static long inode(Path path) {
    try {
      return (Long) Files.getAttribute(path, "unix:ino");
    } catch (IOException | RuntimeException e) {
      return 0;
    }
  }
}
