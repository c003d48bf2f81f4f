package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.interposer.BundledLibrary;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Libraries of other versions than this bridge: what both know works, what is missing is named. */
@Tag("process")
@Tag("any-jdk")
class OtherVersionsTest {

  private static final Path INTERPOSER = Path.of("../../interposer").toAbsolutePath().normalize();
  private static final Path PREVIOUS = INTERPOSER.resolve("test/previous");

  /** Every struct and row of this library has a field more; see the C tests. */
  private static final Path NEXT = INTERPOSER.resolve("target/cmake/test/libmallometer_next.so");

  private static final String[] FIGURES = {
    "status ACTIVE preload",
    "counters live=true huge=1 largest=68157440 thread=true",
    "events [68157440]",
    "site live=40.0 bytes=true ages=true",
    "allocator GLIBC arenas=true system=true",
    "observation ON  objects=true",
    "recording OFF",
    "end"
  };

  @TempDir private Path directory;

  @Test
  void thisVersionIsReadWhole() throws Exception {
    String output = read(BundledLibrary.extract(directory));

    assertThat(output.lines())
        .contains(FIGURES)
        .contains("missing []", "remark ")
        .contains(
            "dropped [no-java, no-method, no-module, no-site, no-stack, not-followed, truncated]");
  }

  @Test
  void theVersionBeforeIsReadAndItsMissingFiguresAreNamed() {
    assumeThat(System.getProperty("os.arch")).isEqualTo("amd64");

    String output = read(PREVIOUS.resolve("libmallometer.so"));

    assertThat(output.lines())
        .contains(FIGURES)
        .contains(
            "missing [samples_without_stack, mallometer_search_start, mallometer_search]",
            "remark the library (0.1.0-SNAPSHOT) is older than this bridge and lacks"
                + " samples_without_stack, mallometer_search_start, mallometer_search, so some"
                + " figures are unknown; preload the library of the bridge's version",
            "dropped [no-java, no-method, no-module, no-site, not-followed, truncated]");
  }

  @Test
  void theNextVersionIsReadAsThisOne() {
    assumeThat(NEXT).exists();

    assertThat(read(NEXT).lines()).contains(FIGURES).contains("missing []", "remark ");
  }

  /** What it does not have costs nothing but itself. */
  @Test
  void functionsThatALibraryLacksAreNamed() throws Exception {
    Path source =
        Files.writeString(
            directory.resolve("few.c"),
            """
            #include <string.h>
            #include "mallometer.h"
            uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION; }
            int mallometer_snapshot(struct mallometer_counters *out, uint32_t origin) {
              struct mallometer_counters own = {sizeof own, 1};
              own.allocated_bytes = 100000000;
              (void)origin;
              memcpy(out, &own, sizeof own);
              return 0;
            }
            int mallometer_self(struct mallometer_report *out) {
              struct mallometer_report own = {sizeof own, 1, MALLOMETER_STATE_COUNTING};
              if (out->size < own.size) own.size = out->size;
              strcpy(own.build, "0.0.1");
              memcpy(out, &own, own.size);
              return 0;
            }
            """);
    Path library = directory.resolve("libmallometer.so");
    Process compiler =
        new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-I" + PREVIOUS,
                "-o",
                library.toString(),
                source.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(compiler.waitFor()).as(said).isZero();

    String output = read(library);

    assertThat(output.lines())
        .contains("status ACTIVE preload")
        .contains("counters live=true huge=0 largest=NaN thread=false", "events []")
        .contains("allocator none", "recording OFF", "end")
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("missing [samples_without_stack, mallometer_thread_snapshot,")
                    .contains("mallometer_sites,", "mallometer_leaks_stop,")
                    .endsWith("mallometer_trim]"))
        .anySatisfy(
            line -> assertThat(line).startsWith("remark the library (0.0.1) is older than"));
  }

  private static String read(Path library) {
    ChildJvm.Result result =
        new ChildJvm()
            .preload(library)
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .run(ReadsEverything.class);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result.output();
  }
}
