package io.mallometer.internal.process;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** How much of a processor a thread gets: what the cgroup's quota and other work leave it. */
public final class ProcessorShare {

  /** Of version 1, as a container sees its own. */
  private static final Path QUOTA_1 = Path.of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");

  private static final Path PERIOD_1 = Path.of("/sys/fs/cgroup/cpu/cpu.cfs_period_us");

  /**
   * Those of the machine: in a cgroup with a quota, the JVM tells as many as the quota pays for.
   */
  private static final Path ONLINE = Path.of("/sys/devices/system/cpu/online");

  private ProcessorShare() {}

  /** Returns by how much longer a second of processor time takes this process now: 1 or more. */
  public static double slowdown() {
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    int processors = processors(new ProcessFiles().text(ONLINE).orElse(""));
    return slowdown(
        quota(), load, Math.max(processors, Runtime.getRuntime().availableProcessors()));
  }

  /**
   * The same from what the system says. A thread gets the smaller one of what the quota allows and
   * what the load leaves: while it is throttled others run, so their load does not slow it down
   * twice.
   *
   * @param quota processors that the cgroup may use; infinite without a quota
   * @param load threads of the machine that want to run; below 0 if unknown
   * @param processors of the machine
   */
  static double slowdown(double quota, double load, int processors) {
    return Math.max(1, Math.max(1 / quota, load / processors));
  }

  /** Returns how many there are in a list such as {@code 0-3,8}; 0 if it is none. */
  static int processors(String list) {
    int count = 0;
    for (String range : list.strip().split(",")) {
      String[] ends = range.split("-", -1);
      try {
        count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
      } catch (NumberFormatException e) {
        return 0;
      }
    }
    return count;
  }

  /** Returns the quota of {@code cpu.max}: {@code 50000 100000}, or {@code max 100000}. */
  static double quota(String cpuMax) {
    String[] words = cpuMax.strip().split("\\s+");
    if (words.length < 2 || words[0].equals("max") || words[0].startsWith("-")) {
      return Double.POSITIVE_INFINITY;
    }
    try {
      return Double.parseDouble(words[0]) / Double.parseDouble(words[1]);
    } catch (NumberFormatException e) {
      return Double.POSITIVE_INFINITY;
    }
  }

  private static double quota() {
    ProcessFiles files = new ProcessFiles();
    double least = quota(files.text(QUOTA_1).orElse("") + " " + files.text(PERIOD_1).orElse(""));
    Optional<CgroupDirectory> cgroup =
        CgroupDirectory.find(files.own("cgroup").orElse(""), files.own("mountinfo").orElse(""));
    for (Path directory : cgroup.map(CgroupDirectory::upwards).orElse(List.of())) {
      least = Math.min(least, quota(files.text(directory.resolve("cpu.max")).orElse("")));
    }
    return least;
  }
}
