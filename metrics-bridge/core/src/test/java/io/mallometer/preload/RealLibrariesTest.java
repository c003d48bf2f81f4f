package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.preload.RealLibraries.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that the memory of real libraries is named after the application's method. There are four
 * variants: one in the interpreter, and three with different collectors, because collectors pass
 * arrays to native code in different ways.
 *
 * <p>JDKs before 25 run two of the four variants, and later JDKs the other two. {@code
 * -Dsoak.all=true} runs all four on every JDK.
 */
@Tag("process")
@Tag("alone")
class RealLibrariesTest {

  /**
   * The estimate for each way to allocate must exceed this many bytes, so that the JVM's own
   * allocations do not matter.
   */
  private static final double ENOUGH_BYTES = 10e6;

  private static final String INTERPRETED =
      "-XX:CompileCommand=exclude," + RealLibraries.class.getName() + "::*";

  private static final Pattern COMPILED =
      Pattern.compile("(?m)^ *\\d+ +\\d+ .*RealLibraries::hotLoop");

  private static final Pattern LINE = Pattern.compile("kind (\\w+) (\\d+) (\\d+) (\\d+) (\\d+)");

  @TempDir private Path directory;

  /**
   * The estimates for one way to allocate.
   *
   * @param bytes the live bytes
   * @param named the part of {@code bytes} at call sites that are named after the application's
   *     method
   * @param samples the number of samples
   * @param deviation the standard deviation of {@code named}
   */
  private record Seen(double bytes, double named, long samples, double deviation) {
    static Seen of(MatchResult line) {
      return new Seen(
          Double.parseDouble(line.group(2)),
          Double.parseDouble(line.group(3)),
          Long.parseLong(line.group(4)),
          Double.parseDouble(line.group(5)));
    }

    /**
     * Allows five standard deviations (exceeded by chance once in two million), and 5 % for
     * overheads.
     */
    boolean isAbout(double bytes) {
      return Math.abs(named - bytes) <= 5 * deviation + 0.05 * bytes;
    }
  }

  static List<String> options() {
    List<String> older = List.of("-XX:+UseParallelGC", INTERPRETED);
    List<String> newer = List.of("-XX:+UseG1GC", "-XX:+UseZGC");
    if (Boolean.getBoolean("soak.all")) {
      return Stream.concat(older.stream(), newer.stream()).toList();
    }
    return Runtime.version().feature() < 25 ? older : newer;
  }

  @ParameterizedTest
  @MethodSource("options")
  void memoryIsNamedAfterTheMethodThatTookIt(String option) throws Exception {
    String all = run(option);
    String output = all.substring(Math.max(0, all.indexOf("kind SQLITE")));

    System.out.printf("%s%n%s", option, output.replaceAll("(?m)^(?!kind).*\n", ""));
    assertThat(COMPILED.matcher(all).find()).isEqualTo(!option.equals(INTERPRETED));
    Map<Kind, Seen> seen = parse(output);
    assertThat(seen.keySet())
        .as(output)
        .containsAll(Stream.of(Kind.values()).filter(kind -> kind != Kind.VIRTUAL_THREAD).toList());
    assertThat(seen.containsKey(Kind.VIRTUAL_THREAD)).isEqualTo(Runtime.version().feature() >= 21);
    seen.forEach(
        (kind, figures) -> {
          assertThat(figures.bytes()).as(kind + "\n" + output).isGreaterThan(ENOUGH_BYTES);
          assertThat(figures.named() / figures.bytes())
              .as(kind + " named " + kind.frame + "\n" + output)
              .isGreaterThanOrEqualTo(0.95);
          assertThat(Double.isNaN(kind.bytes) || figures.isAbout(kind.bytes))
              .as(kind + " of " + kind.bytes + " bytes\n" + output)
              .isTrue();
          assertThat(figures.deviation())
              .as(kind + "\n" + output)
              .isLessThan(0.25 * figures.named());
        });
  }

  /**
   * Sets the overhead target to 50 %. The default of 0.5 % would allow too few samples, because the
   * program makes all its allocations at the start. With no target, the stacks of the JIT compilers
   * would fill the table of call sites.
   */
  private String run(String option) throws IOException {
    return new ChildJvm()
        .compilingFully()
        .preload(BundledLibrary.extract(directory))
        .environment("MALLOMETER_OVERHEAD_TARGET", "50%")
        .options("-Xmx256m", option, "-XX:+PrintCompilation")
        .timeout(Duration.ofMinutes(3))
        .run(RealLibraries.class)
        .output();
  }

  private static Map<Kind, Seen> parse(String output) {
    Map<Kind, Seen> seen = new EnumMap<>(Kind.class);
    Matcher lines = LINE.matcher(output);
    while (lines.find()) {
      seen.put(Kind.valueOf(lines.group(1)), Seen.of(lines.toMatchResult()));
    }
    return seen;
  }
}
