package io.mallometer.internal.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Settings that make the kernel use transparent huge pages, as described in the kernel's {@code
 * admin-guide/mm/transhuge}.
 *
 * @param always whether the kernel uses them without being asked
 * @param byJvm whether the JVM asks for them, {@code -XX:+UseTransparentHugePages}
 * @param byGlibc whether glibc does, by the tunable {@code glibc.malloc.hugetlb=1}; with other
 *     values it asks for pages of hugetlbfs
 * @param byJemalloc whether jemalloc does, {@code thp:always}
 */
record HugePageSettings(boolean always, boolean byJvm, boolean byGlibc, boolean byJemalloc) {

  /** Settings under which no program gets huge pages without {@code madvise(2)} of its own. */
  static final HugePageSettings NONE = new HugePageSettings(false, false, false, false);

  private static final Path DIRECTORY = Path.of("/sys/kernel/mm/transparent_hugepage");
  private static final long USUAL_BYTES = 2L << 20;
  private static final String TUNABLE = "glibc.malloc.hugetlb=1";

  static HugePageSettings read(ProcessFiles files) {
    Optional<DiagnosticCommands.Option> jvm = DiagnosticCommands.option("UseTransparentHugePages");
    return of(
        files.text(DIRECTORY.resolve("enabled")).orElse(""),
        jvm.isPresent() && jvm.get().value().equals("true"),
        System.getenv());
  }

  static HugePageSettings of(String enabled, boolean byJvm, Map<String, String> environment) {
    List<String> tunables = List.of(environment.getOrDefault("GLIBC_TUNABLES", "").split(":"));
    return new HugePageSettings(
        enabled.contains("[always]"),
        byJvm,
        tunables.contains(TUNABLE),
        environment.getOrDefault("MALLOC_CONF", "").contains("thp:always"));
  }

  /** Returns the size of a huge page in bytes; 2 MiB if the kernel does not tell. */
  static long pageBytes() {
    OptionalLong told =
        Figures.decimal(new ProcessFiles().text(DIRECTORY.resolve("hpage_pmd_size")).orElse(""));
    return told.orElse(0) >= AddressSpace.PAGE ? told.getAsLong() : USUAL_BYTES;
  }
}
