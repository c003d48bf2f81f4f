package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
@Tag("any-jdk")
class OtherVersionsTest {

  private static final Path HEADERS =
      Path.of("../../interposer/include").toAbsolutePath().normalize();

  private static final String[] FIGURES = {
    "status ACTIVE preloaded",
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
        .contains("remark ")
        .contains(
            "dropped [no_java, no_method, no_module, no_site, no_stack, not_followed, truncated]");
  }

  @Test
  void aLibraryOfAnotherVersionIsRefusedAndNotRead() throws Exception {
    String output =
        read(
            compiled(
                """
                #include <stdlib.h>
                #include "mallometer.h"
                uint32_t mallometer_abi_version(void) { return MALLOMETER_ABI_VERSION + 1; }
                int mallometer_snapshot(struct mallometer_counters *out) { abort(); }
                int mallometer_self(struct mallometer_report *out) { abort(); }
                """));

    assertThat(output.lines())
        .anyMatch(
            line ->
                line.matches(
                    "status UNAVAILABLE the preloaded library has interface version [0-9a-f]+, but"
                        + " this bridge needs version [0-9a-f]+"))
        .contains("site none: the native library is not loaded, so nothing records them", "end");
  }

  private Path compiled(String source) throws Exception {
    Path file = Files.writeString(directory.resolve("other.c"), source);
    Path library = directory.resolve("libmallometer.so");
    Process compiler =
        new ProcessBuilder(
                "gcc",
                "-shared",
                "-fPIC",
                "-I" + HEADERS,
                "-o",
                library.toString(),
                file.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(compiler.waitFor()).as(said).isZero();
    return library;
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
