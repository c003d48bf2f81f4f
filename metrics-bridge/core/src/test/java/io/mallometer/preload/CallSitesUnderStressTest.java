package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.ChildJvm.Result;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that {@link SitesUnderStress} ends as it would without mallometer, and that call sites are
 * recorded. By default the program runs for some seconds on this JDK under some collectors. With
 * {@code -Dsoak.seconds=N} it runs for N seconds on each JDK under each collector.
 */
@Tag("process")
class CallSitesUnderStressTest {

  private static final int SOAK_SECONDS = Integer.getInteger("soak.seconds", 0);
  private static final int MOST_SITES = 16_384;
  private static final int MOST_METHODS = 16_384;
  private static final int MOST_MODULES = 1_024;

  @TempDir private Path directory;

  /**
   * A run of the program: {@code interval} is the value of {@code MALLOMETER_SAMPLE_INTERVAL}, and
   * {@code end} is the way in which the program ends.
   */
  record Run(Path jdk, String collector, String interval, String end) {}

  static Stream<Run> runs() {
    List<Path> jdks =
        SOAK_SECONDS > 0
            ? ChildJvm.jdksSince(17)
            : List.of(Path.of(System.getProperty("java.home")));
    return jdks.stream()
        .flatMap(
            jdk ->
                Stream.of(
                    new Run(jdk, "G1", "4k", "halt"),
                    new Run(jdk, "Z", "4k", "return"),
                    new Run(jdk, "Shenandoah", "4k", "exit"),
                    new Run(jdk, "Parallel", "1", "exit"),
                    new Run(jdk, "Serial", "4k", "exit")))
        .filter(
            run ->
                SOAK_SECONDS > 0
                    ? starts(run.jdk(), collector(run))
                    : isOfThisJdk(run.collector()));
  }

  /**
   * Returns whether the test uses the collector on this JDK. On JDK 25 and later it uses ZGC, which
   * moves objects while the program runs.
   */
  private static boolean isOfThisJdk(String collector) {
    return Runtime.version().feature() < 25
        ? List.of("G1", "Parallel").contains(collector)
        : collector.equals("Z");
  }

  private static String collector(Run run) {
    return "-XX:+Use" + run.collector() + "GC";
  }

  static boolean starts(Path jdk, String option) {
    try {
      return new ProcessBuilder(jdk.resolve("bin/java").toString(), option, "-version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @MethodSource("runs")
  void theProgramRunsOnAndItsSitesKeepTheirNames(Run run) throws Exception {
    int seconds = SOAK_SECONDS > 0 ? SOAK_SECONDS : 2;
    Path crash = directory.resolve("hs_err.log");
    Result result =
        new ChildJvm()
            .java(run.jdk())
            .compilingFully()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", run.interval())
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options(collector(run), "-XX:ErrorFile=" + crash, "-Xmx256m")
            .options("-XX:-CreateCoredumpOnCrash", "-XX:MaxMetaspaceSize=128m")
            .timeout(Duration.ofSeconds(seconds + 150))
            .run(SitesUnderStress.class, Integer.toString(seconds), run.end());
    String output = result.output();
    System.out.println(run + "\n" + output.substring(Math.max(0, output.length() - 1_000)));

    assertThat(Files.exists(crash)).as(output).isFalse();
    assertThat(result.exitCode())
        .as(output)
        .isEqualTo(run.end().equals("return") ? 0 : SitesUnderStress.EXIT_CODE);
    assertThat(output)
        .contains("state=ACTIVE", "\njava=true", "other java=true", "reason=\n", "done")
        .contains("gone=" + SitesUnderStress.KEPT_CLASSES);
    if (!run.interval().equals("1")) {
      // With a sampling interval of 1 byte, stacks of the JVM fill the table of sites. Some of the
      // program's classes then get no site.
      assertThat(figure(output, "named")).as(output).isEqualTo(SitesUnderStress.KEPT_CLASSES);
    }
    assertThat(figure(output, "samples")).isGreaterThan(10_000);
    assertThat(figure(output, "sites")).isBetween(100L, (long) MOST_SITES);
    // The growth includes memory that the library reserves for observing accesses.
    assertThat(figure(output, "grown"))
        .as("growth of the library's memory by blocks of new threads")
        .isLessThan(5 << 20);
    // The Java library is loaded twice, so every table exists twice. Each copy has one StackFrame[]
    // for each site, and one for its table of frames.
    assertThat(figure(output, "stackframe")).isBetween(100L, 2L * (MOST_SITES + 1));
    assertThat(figure(output, "recordedmethod")).isBetween(1L, 2L * MOST_METHODS);
    assertThat(figure(output, "recordedmodule")).isBetween(1L, 4L * MOST_MODULES);
  }

  private static long figure(String output, String name) {
    Matcher figure = Pattern.compile("\\b" + name + "=(-?\\d+)").matcher(output);
    assertThat(figure.find()).as(name + " in " + output).isTrue();
    return Long.parseLong(figure.group(1));
  }
}
