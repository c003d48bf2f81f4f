package io.mallometer.internal.history;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Facts about a recorded run from outside the file, at the time when the file is read.
 *
 * @param inUse whether a process still writes the file
 * @param machineRestarted whether the machine was started again after the run; false if unknown
 * @param oomKills the kernel's count of kills in the run's cgroup; {@code NaN} if the cgroup no
 *     longer exists or cannot be read, or if the machine was started again
 */
record PostMortem(boolean inUse, boolean machineRestarted, double oomKills) {

  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int LARGEST_TEXT = 64 << 10;
  private static final Pattern OOM_KILL = Pattern.compile("^oom_kill (\\d+)$", Pattern.MULTILINE);

  static PostMortem of(RecordedLife life, boolean inUse) {
    String boot = text(BOOT_ID).strip();
    boolean known = !boot.isEmpty() && !life.header().bootId().isEmpty();
    boolean sameBoot = known && boot.equals(life.header().bootId());
    return new PostMortem(inUse, known && !sameBoot, sameBoot ? oomKills(life) : Double.NaN);
  }

  static boolean inUse(Path file) {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
      return lock == null;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /**
   * Returns the kernel's count of kills in the run's cgroup. Compares the inode, because another
   * cgroup may have the same name.
   */
  private static double oomKills(RecordedLife life) {
    try {
      Path cgroup = Path.of(life.header().cgroup().directory());
      if (life.header().cgroup().directory().isEmpty()
          || (Long) Files.getAttribute(cgroup, "unix:ino") != life.header().cgroup().inode()) {
        return Double.NaN;
      }
      for (String name : new String[] {"memory.events", "memory.oom_control"}) {
        Matcher matcher = OOM_KILL.matcher(text(cgroup.resolve(name)));
        if (matcher.find()) {
          return Double.parseDouble(matcher.group(1));
        }
      }
      return Double.NaN;
    } catch (IOException | RuntimeException e) {
      return Double.NaN;
    }
  }

  /**
   * Reads only a regular file, because the recorded path may name a pipe, which could block, or a
   * device, which may never end.
   */
  private static String text(Path file) {
    if (!Files.isRegularFile(file)) {
      return "";
    }
    try (InputStream in = new FileInputStream(file.toFile())) {
      return new String(in.readNBytes(LARGEST_TEXT), StandardCharsets.UTF_8);
    } catch (IOException | SecurityException e) {
      return "";
    }
  }
}
