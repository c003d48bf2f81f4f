package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the program that derives the bridge's classes from the library's header. */
@Tag("process")
@Tag("any-jdk")
class GenerateAbiTest {

  private static final Path PROGRAM = Path.of("../../interposer/abi/GenerateAbi.java");
  private static final Path HEADER = Path.of("../../interposer/include/mallometer.h");

  @TempDir private static Path classes;
  @TempDir private Path directory;

  @BeforeAll
  static void compile() {
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-d", classes.toString(), PROGRAM.toString());
    assertThat(failed).isZero();
  }

  @Test
  void aChangedInterfaceNeedsAnotherVersion() throws Exception {
    String changed = header().replace("uint64_t frees;", "uint64_t releases;");

    assertThat(generate(changed)).contains("set MALLOMETER_ABI_VERSION to 0x");
  }

  @Test
  void aChangedCommentDoesNot() throws Exception {
    assertThat(generate(header().replace("/* Events. */", "/* Counted events. */"))).isEmpty();
    assertThat(Files.readString(directory.resolve("Abi.java"))).contains("record Counters(");
  }

  @Test
  void aStructWithPaddingIsRefused() throws Exception {
    String padded = header().replace("uint64_t frees;", "uint32_t late;\n  uint64_t frees;");

    assertThat(generate(padded)).contains("counters.frees needs padding before it");
  }

  @Test
  void whatTheProgramDoesNotUnderstandIsRefused() throws Exception {
    String bits = header().replace("uint64_t frees;", "uint64_t frees : 3;");

    assertThat(generate(bits)).contains("not understood: uint64_t frees : 3");
  }

  @Test
  void aFunctionThatTheBridgeCannotCallIsRefused() throws Exception {
    String number =
        header().replace("int mallometer_trim(void);", "int mallometer_trim(double share);");
    String result =
        header().replace("int mallometer_trim(void);", "uint64_t mallometer_trim(void);");

    assertThat(generate(number)).contains("trim takes double");
    assertThat(generate(result)).contains("trim returns uint64_t");
  }

  private static String header() throws Exception {
    return Files.readString(HEADER);
  }

  private String generate(String text) throws Exception {
    Path changed = Files.writeString(directory.resolve("mallometer.h"), text);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classes.toString(),
                "GenerateAbi",
                "java",
                changed.toString(),
                directory.toString(),
                "any")
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isEqualTo(said.isEmpty() ? 0 : 1);
    return said;
  }
}
