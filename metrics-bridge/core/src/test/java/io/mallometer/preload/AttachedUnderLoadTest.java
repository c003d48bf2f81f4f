package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mallometer.ChildJvm;
import io.mallometer.ChildJvm.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Attaches to JVMs at work, by default for some seconds on this JDK under one collector. {@code
 * -Dsoak.cycles=N} attaches and detaches N times on each JDK with each of its collectors. {@code
 * -Dsoak.seconds=N} compares mallometer's counters with an exact count for N seconds, and with
 * glibc's statistics for another N seconds.
 */
@Tag("process")
class AttachedUnderLoadTest {

  private static final int SOAK_CYCLES = Integer.getInteger("soak.cycles", 0);
  private static final int SOAK_SECONDS = Integer.getInteger("soak.seconds", 0);

  /**
   * The library compares its bytes with glibc's at most every 5 s. The first comparison has been
   * made after this many seconds.
   */
  private static final int FIRST_COMPARISON_SECONDS = 6;

  private static final int COPIES = 4;

  private static final Path EXACT_COUNTER =
      Path.of("../../interposer/target/cmake/test/libexact_counter.so").toAbsolutePath();

  @TempDir private Path directory;

  record Run(Path jdk, String collector) {}

  static List<Path> jdks() {
    return SOAK_CYCLES > 0 || SOAK_SECONDS > 0
        ? ChildJvm.jdksSince(17)
        : List.of(Path.of(System.getProperty("java.home")));
  }

  static Stream<Run> runs() {
    List<String> collectors =
        SOAK_CYCLES > 0
            ? List.of("G1", "Z", "Shenandoah", "Parallel", "Serial")
            : List.of(Runtime.version().feature() < 25 ? "G1" : "Z");
    return jdks().stream()
        .flatMap(jdk -> collectors.stream().map(collector -> new Run(jdk, collector)))
        .filter(run -> SOAK_CYCLES == 0 || CallSitesUnderStressTest.starts(run.jdk(), option(run)));
  }

  private static String option(Run run) {
    return "-XX:+Use" + run.collector() + "GC";
  }

  @ParameterizedTest
  @MethodSource("runs")
  void comesAndGoesWhileTheJvmIsUnderStress(Run run) throws Exception {
    int cycles = SOAK_CYCLES > 0 ? SOAK_CYCLES : 20;
    String output =
        output(
            program(run.jdk()).options(option(run)).timeout(Duration.ofSeconds(60 + cycles)),
            "cycles",
            cycles);
    System.out.println(
        run + "\n" + output.lines().filter(line -> line.startsWith("cycles")).toList());

    assertThat(output).contains("cycles=" + cycles + " ");
  }

  @Test
  void classLoadersThatAttachAtOnceAllCount() throws Exception {
    String output = output(program(Path.of(System.getProperty("java.home"))), "together", COPIES);

    assertThat(output.lines().filter(line -> line.startsWith("copy ")))
        .as(output)
        .hasSize(COPIES + 1)
        .containsOnly("copy ACTIVE (attached) a moment ago");
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void seesEveryCallThatAnExactPreloadSees(Path jdk) throws Exception {
    assumeTrue(Files.exists(EXACT_COUNTER), "the C tests are not built");
    int seconds = SOAK_SECONDS > 0 ? SOAK_SECONDS : 3;
    String output =
        output(
            program(jdk).preload(EXACT_COUNTER).timeout(Duration.ofSeconds(seconds + 100)),
            "compare",
            seconds);
    System.out.println(jdk + "\n" + output);

    assertThat(output)
        .containsPattern("(?m)^allocations: \\d{5,} of \\d+, 100.0000 %, missing=0$")
        .containsPattern("(?m)^frees: \\d{5,} of \\d+, 100.0000 %, missing=0$")
        .containsPattern("(?m)^allocated bytes: \\d{8,} of \\d+, 100.0000 %, missing=0$")
        .containsPattern("(?m)^freed bytes: \\d{8,} of \\d+, 100.0000 %, missing=0$")
        .contains("drift of live bytes=0\n");
  }

  @ParameterizedTest
  @Tag("any-jdk")
  @MethodSource("jdks")
  void findsThatGlibcHasInUseWhatWasCountedUnlessItWasNot(Path jdk) throws Exception {
    int seconds = SOAK_SECONDS > 0 ? SOAK_SECONDS : FIRST_COMPARISON_SECONDS;
    String output =
        output(program(jdk).timeout(Duration.ofSeconds(seconds + 100)), "watch", seconds);
    System.out.println(jdk + "\n" + output);
    Matcher told = Pattern.compile("drift=(-?\\d+) bound=(\\d+)").matcher(output);
    assertThat(told.find()).as(output).isTrue();
    do {
      long bound = Long.parseLong(told.group(2));
      assertThat(Math.abs(Long.parseLong(told.group(1)))).as(output).isLessThanOrEqualTo(bound);
    } while (told.find());
    assertThat(output).contains("gaps: the live bytes that glibc reports differ by ");
  }

  private ChildJvm program(Path jdk) {
    return new ChildJvm()
        .java(jdk)
        .compilingFully()
        .environment("MALLOMETER_ATTACH", "auto")
        .options("-Xmx256m", "-XX:-CreateCoredumpOnCrash", "-XX:MaxMetaspaceSize=128m")
        .options("-XX:ErrorFile=" + directory.resolve("hs_err.log"));
  }

  private String output(ChildJvm program, String what, int amount) throws Exception {
    Result result = program.run(AttachedUnderLoad.class, what, Integer.toString(amount));
    String output = result.output();
    assertThat(directory.resolve("hs_err.log")).as(output).doesNotExist();
    assertThat(result.exitCode()).as(output).isZero();
    assertThat(output).contains("done");
    return output;
  }
}
