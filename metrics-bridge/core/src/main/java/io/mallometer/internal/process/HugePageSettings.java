package io.mallometer.internal.process;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Who asks for transparent huge pages, as described in the kernel's {@code
 * admin-guide/mm/transhuge}.
 *
 * @param always whether the kernel uses them without being asked
 * @param byJvm whether the JVM asks for them, {@code -XX:+UseTransparentHugePages}
 * @param byGlibc whether glibc does, by the tunable {@code glibc.malloc.hugetlb}
 * @param byJemalloc whether jemalloc does, {@code thp:always}
 */
record HugePageSettings(boolean always, boolean byJvm, boolean byGlibc, boolean byJemalloc) {

  private static final Path DIRECTORY = Path.of("/sys/kernel/mm/transparent_hugepage");
  private static final long USUAL_BYTES = 2L << 20;
  private static final String TUNABLE = "glibc.malloc.hugetlb=";

  static HugePageSettings read(ProcessFiles files) {
    Optional<DiagnosticCommands.Option> jvm = DiagnosticCommands.option("UseTransparentHugePages");
    return of(
        files.text(DIRECTORY.resolve("enabled")).orElse(""),
        jvm.isPresent() && jvm.get().value().equals("true"),
        System.getenv());
  }

  static HugePageSettings of(String enabled, boolean byJvm, Map<String, String> environment) {
    String tunables = environment.getOrDefault("GLIBC_TUNABLES", "");
    return new HugePageSettings(
        enabled.contains("[always]"),
        byJvm,
        tunables.contains(TUNABLE) && !tunables.contains(TUNABLE + "0"),
        environment.getOrDefault("MALLOC_CONF", "").contains("thp:always"));
  }

  /** The size of a huge page. */
  static long pageBytes() {
    OptionalLong told =
        Figures.decimal(new ProcessFiles().text(DIRECTORY.resolve("hpage_pmd_size")).orElse(""));
    return told.orElse(0) >= AddressSpace.PAGE ? told.getAsLong() : USUAL_BYTES;
  }
}
