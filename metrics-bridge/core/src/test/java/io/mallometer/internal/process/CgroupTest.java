package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the reading of files of cgroups. The texts of version 2 were captured on Linux 6.1 and
 * 6.12, or follow the kernel's documentation.
 */
@Tag("any-jdk")
class CgroupTest {

  private static final long MIB = 1 << 20;

  private static final String MOUNT_2 =
      "31 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  private static final String MOUNT_1 =
      "36 32 0:31 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory\n"
          + "37 32 0:32 / /sys/fs/cgroup/cpu rw,nosuid shared:16 - cgroup cgroup rw,cpu,cpuacct\n";

  @Test
  void findsVersion2InAContainer() {
    assertThat(CgroupDirectory.find("0::/\n", MOUNT_2))
        .contains(directory(2, "/sys/fs/cgroup", "/sys/fs/cgroup"));
  }

  @Test
  void findsVersion2OnAHost() {
    assertThat(CgroupDirectory.find("0::/system.slice/app.service\n", MOUNT_2))
        .contains(directory(2, "/sys/fs/cgroup/system.slice/app.service", "/sys/fs/cgroup"));
  }

  @Test
  void findsVersion1WhereVersion2IsMountedToo() {
    String hybrid = "31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    assertThat(
            CgroupDirectory.find(
                "9:name=systemd:/\n4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
                hybrid + MOUNT_1))
        .contains(directory(1, "/sys/fs/cgroup/memory/docker/abc", "/sys/fs/cgroup/memory"));
  }

  /**
   * Docker with version 1 of cgroups lets the process see its path on the host, but mounts only the
   * container's part of the hierarchy.
   */
  @Test
  void findsAPartThatIsMountedAlone() {
    String part =
        "36 32 0:31 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup rw,memory\n";
    assertThat(CgroupDirectory.find("4:memory:/docker/abc\n", part))
        .contains(directory(1, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory"));
    assertThat(CgroupDirectory.find("4:memory:/docker/abc/inner\n", part))
        .contains(directory(1, "/sys/fs/cgroup/memory/inner", "/sys/fs/cgroup/memory"));
  }

  @Test
  void aPathOutsideOfTheMountStaysInside() {
    assertThat(CgroupDirectory.find("0::/../../other\n", MOUNT_2))
        .contains(directory(2, "/sys/fs/cgroup", "/sys/fs/cgroup"));
  }

  @Test
  void findsNoneWithoutTexts() {
    assertThat(CgroupDirectory.find("", "")).isEmpty();
    assertThat(CgroupDirectory.find("0::/\n", "1 2 3\n- - - -\n")).isEmpty();
    assertThat(CgroupDirectory.find("4:memory:/\n", MOUNT_2)).isEmpty();
  }

  @Test
  void version2AddsUpToTheCharge() {
    CgroupMemory memory = version2(files2()).orElseThrow();

    assertThat(memory.chargedBytes()).isEqualTo(1600 * MIB);
    assertThat(memory.parts())
        .containsEntry(ChargedPart.THIS_PROCESS, 900 * MIB)
        .containsEntry(ChargedPart.OTHER_PROCESSES, 124 * MIB)
        .containsEntry(ChargedPart.TMPFS, 128 * MIB)
        .containsEntry(ChargedPart.PAGE_CACHE, 384 * MIB)
        .containsEntry(ChargedPart.KERNEL, 30 * MIB)
        .containsEntry(ChargedPart.SOCKETS, 4 * MIB)
        .containsEntry(ChargedPart.OTHER, (1600 - 1024 - 512 - 30 - 4) * MIB);
    assertThat(sum(memory)).isEqualTo(memory.chargedBytes());
    assertThat(memory.workingSetBytes()).isEqualTo((1600 - 256) * MIB);
    assertThat(memory.limitBytes()).isEqualTo(2048 * MIB);
    assertThat(memory.highBytes()).isNaN();
    assertThat(memory.swapBytes()).isZero();
    assertThat(memory.events())
        .isEqualTo(Map.of("high", 0L, "max", 12L, "oom", 2L, "oom_kill", 1L));
    assertThat(memory.pressure())
        .contains(new CgroupMemory.Pressure(123.456789, 0.000001, 0.0125, 0));
  }

  @Test
  void version2IsReadAsLinux612WritesIt() {
    CgroupMemory memory =
        version2(captured("cgroup-v2-linux-6.12.txt"), OptionalLong.of(20_000_000)).orElseThrow();

    assertThat(memory.parts())
        .containsEntry(ChargedPart.THIS_PROCESS, 20_000_000L)
        .containsEntry(ChargedPart.OTHER_PROCESSES, 6_013_696L)
        .containsEntry(ChargedPart.TMPFS, 25_165_824L)
        .containsEntry(ChargedPart.PAGE_CACHE, 62_832_640L - 25_165_824)
        .containsEntry(ChargedPart.KERNEL, 1_208_320L)
        .containsEntry(ChargedPart.SOCKETS, 0L)
        .containsEntry(ChargedPart.OTHER, 90_304_512L - 26_013_696 - 62_832_640 - 1_208_320);
    assertThat(sum(memory)).isEqualTo(90_304_512L);
    assertThat(memory.workingSetBytes()).isEqualTo(90_304_512L - 3_805_184);
    assertThat(memory.limitBytes()).isEqualTo(399_998_976);
    assertThat(memory.highBytes()).isNaN();
    assertThat(memory.swapBytes()).isZero();
    assertThat(memory.events())
        .isEqualTo(Map.of("high", 39L, "max", 70L, "oom", 2L, "oom_kill", 1L));
    assertThat(memory.pressure())
        .contains(new CgroupMemory.Pressure(2.219590, 2.210981, 0.0003, 0.0003));
  }

  /** The JVM has ended, but its file pages and its pages of tmpfs are still charged. */
  @Test
  void version2IsReadAsLinux61WritesIt() {
    CgroupMemory memory =
        version2(captured("cgroup-v2-linux-6.1.txt"), OptionalLong.of(20_000_000)).orElseThrow();

    assertThat(memory.parts())
        .containsEntry(ChargedPart.THIS_PROCESS, 53_248L)
        .containsEntry(ChargedPart.OTHER_PROCESSES, 0L)
        .containsEntry(ChargedPart.TMPFS, 25_165_824L)
        .containsEntry(ChargedPart.PAGE_CACHE, 57_622_528L - 25_165_824)
        .containsEntry(ChargedPart.KERNEL, 614_400L);
    assertThat(sum(memory)).isEqualTo(58_494_976L);
    assertThat(memory.workingSetBytes()).isEqualTo(58_494_976L - 21_319_680);
    assertThat(memory.events())
        .isEqualTo(Map.of("high", 89L, "max", 82L, "oom", 1L, "oom_kill", 1L));
  }

  /** The sum of a cgroup's items may exceed its total by some pages. */
  @Test
  void tooManyItemsAreTakenFromThePageCache() {
    Map<String, String> files = files2();
    files.put("memory.current", String.valueOf(1500 * MIB));

    CgroupMemory memory = version2(files).orElseThrow();

    assertThat(memory.parts())
        .containsEntry(ChargedPart.PAGE_CACHE, (384 - 70) * MIB)
        .containsEntry(ChargedPart.OTHER, 0L);
    assertThat(sum(memory)).isEqualTo(1500 * MIB);
  }

  /** Linux before 5.18 has no sum of the kernel's own memory. */
  @Test
  void oldKernelsItemise() {
    Map<String, String> files = files2();
    files.computeIfPresent(
        "memory.stat", (name, stat) -> stat.replaceAll("(?m)^(kernel|vmalloc) .*\n", ""));

    assertThat(version2(files).orElseThrow().parts())
        .containsEntry(ChargedPart.KERNEL, 15_728_640L + 8_388_608 + 6_291_456 + 1_024_000);
  }

  @Test
  void theLowestLimitAboveCounts() {
    Map<String, String> files = files2();
    files.put("../memory.max", String.valueOf(1800 * MIB));
    files.put("../memory.high", String.valueOf(1700 * MIB));

    CgroupMemory memory = version2(files).orElseThrow();

    assertThat(memory.limitBytes()).isEqualTo(1800 * MIB);
    assertThat(memory.highBytes()).isEqualTo(1700 * MIB);
  }

  @Test
  void anUnlimitedCgroupHasNoLimit() {
    Map<String, String> files = files2();
    files.put("memory.max", "max\n");

    assertThat(version2(files).orElseThrow().limitBytes()).isNaN();
  }

  @Test
  void theRootCgroupTellsNothing() {
    assertThat(version2(Map.of("memory.stat", "anon 1\n"))).isEmpty();
  }

  @Test
  void whatIsMissingIsUnknown() {
    CgroupMemory memory = version2(Map.of("memory.current", "4096\n")).orElseThrow();

    assertThat(memory.parts()).isEqualTo(Map.of(ChargedPart.OTHER, 4096L));
    assertThat(memory.workingSetBytes()).isNaN();
    assertThat(memory.swapBytes()).isNaN();
    assertThat(memory.events()).isEmpty();
    assertThat(memory.pressure()).isEmpty();
  }

  @Test
  void version1AddsUpToTheCharge() {
    CgroupMemory memory = version1(files1(), OptionalLong.of(1_000_000)).orElseThrow();

    long rss = stat("total_rss");
    long cache = stat("total_cache");
    assertThat(memory.parts())
        .containsEntry(ChargedPart.THIS_PROCESS, 1_000_000L)
        .containsEntry(ChargedPart.OTHER_PROCESSES, rss - 1_000_000)
        .containsEntry(ChargedPart.PAGE_CACHE, cache)
        .containsEntry(ChargedPart.TMPFS, 0L)
        .containsEntry(ChargedPart.KERNEL, 3_000_000L)
        .doesNotContainKey(ChargedPart.SOCKETS);
    assertThat(sum(memory)).isEqualTo(60 * MIB);
    assertThat(memory.workingSetBytes()).isEqualTo(60 * MIB - stat("total_inactive_file"));
    assertThat(memory.limitBytes()).isNaN();
    assertThat(memory.swapBytes()).isZero();
    assertThat(memory.events()).isEqualTo(Map.of("max", 5L, "oom_kill", 4L));
  }

  @Test
  void aLimitAboveVersion1Counts() {
    Map<String, String> files = new HashMap<>();
    files.put("memory.stat", "hierarchical_memory_limit 1000000\n");
    files.put("memory.usage_in_bytes", "5000\n");
    files.put("memory.limit_in_bytes", "9223372036854771712\n");

    assertThat(version1(files, OptionalLong.empty()).orElseThrow().limitBytes())
        .isEqualTo(1_000_000);
  }

  private static long stat(String name) {
    return Captured.text("memory.stat-v1-linux-6.18.txt")
        .lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
        .findFirst()
        .orElseThrow();
  }

  static Map<String, String> files1() {
    return Map.of(
        "memory.stat", Captured.text("memory.stat-v1-linux-6.18.txt"),
        "memory.usage_in_bytes", 60 * MIB + "\n",
        "memory.limit_in_bytes", "9223372036854771712\n",
        "memory.kmem.usage_in_bytes", "3000000\n",
        "memory.failcnt", "5\n",
        "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  }

  static Map<String, String> files2() {
    Map<String, String> files = new HashMap<>();
    files.put("memory.stat", Captured.text("memory.stat-v2.txt"));
    files.put("memory.current", 1600 * MIB + "\n");
    files.put("memory.max", 2048 * MIB + "\n");
    files.put("memory.high", "max\n");
    files.put("memory.swap.current", "0\n");
    files.put("memory.events", "low 0\nhigh 0\nmax 12\noom 2\noom_kill 1\noom_group_kill 0\n");
    files.put(
        "memory.pressure",
        "some avg10=1.25 avg60=0.10 avg300=0.00 total=123456789\n"
            + "full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    return files;
  }

  private static Map<String, String> captured(String name) {
    Map<String, String> files = new HashMap<>();
    for (String file : Captured.text(name).split("(?m)^== ")) {
      String[] parts = file.split("\n", 2);
      if (parts.length == 2) {
        files.put(parts[0], parts[1]);
      }
    }
    return files;
  }

  static Optional<CgroupMemory> version2(Map<String, String> files) {
    return version2(files, OptionalLong.of(900 * MIB));
  }

  private static Optional<CgroupMemory> version2(
      Map<String, String> files, OptionalLong anonymous) {
    return read(directory(2, "/sys/fs/cgroup/app", "/sys/fs/cgroup"), files, anonymous);
  }

  static Optional<CgroupMemory> version1(Map<String, String> files, OptionalLong anonymous) {
    return read(
        directory(1, "/sys/fs/cgroup/memory/app", "/sys/fs/cgroup/memory"), files, anonymous);
  }

  private static Optional<CgroupMemory> read(
      CgroupDirectory directory, Map<String, String> files, OptionalLong anonymous) {
    return CgroupReading.of(
        directory,
        path -> Optional.ofNullable(files.get(directory.path().relativize(path).toString())),
        anonymous);
  }

  private static CgroupDirectory directory(int version, String path, String mount) {
    return new CgroupDirectory(version, Path.of(path), Path.of(mount));
  }

  private static long sum(CgroupMemory memory) {
    return memory.parts().values().stream().mapToLong(Long::longValue).sum();
  }
}
