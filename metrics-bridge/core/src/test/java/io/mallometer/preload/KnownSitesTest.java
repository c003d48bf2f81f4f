package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.interposer.BundledLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is said of call sites whose truth is known: exact where everything is a sample, else true of
 * as many intervals as they promise.
 */
class KnownSitesTest {

  private static final List<String> FIGURES =
      List.of("allocated-objects", "allocated-bytes", "live-objects", "live-bytes");

  private static final int SITES = 40;

  /**
   * All figures together; one alone is below 34 of 40 by chance once in 300 times, and must be no
   * less than 32.
   */
  private static final int RUNS = 3;

  private static final double COVERED = 34.0 / 40;

  private static final double LEAST = 32.0 / 40;

  @TempDir private Path directory;

  /** A line of the program: a figure of a site. */
  private record Known(
      String figure, double truth, double low, double value, double high, double variance) {

    static Known of(String line) {
      String[] words = line.split(" ");
      double[] numbers = Arrays.stream(words).skip(1).mapToDouble(Double::parseDouble).toArray();
      return new Known(words[0], numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    }

    boolean isExact() {
      return value == truth && low == truth && high == truth && variance == 0;
    }

    boolean isCovered() {
      return low <= truth && truth <= high;
    }
  }

  /** The one that the tests run on; they run on each. */
  static List<Path> jdks() {
    return List.of(Path.of(System.getProperty("java.home")));
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void anIntervalOfOneIsExact(Path jdk) throws Exception {
    ChildJvm child = child(jdk).environment("MALLOMETER_SAMPLE_INTERVAL", "1");

    List<Known> known = run(child, "1", "20", "5", "1000", "64", "64000");

    assertThat(known).hasSize(20 * FIGURES.size()).allMatch(Known::isExact);
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void intervalsOfLargeSitesHoldWhatTheyPromiseFromTheStart(Path jdk) throws Exception {
    assertCovered(jdk, child(jdk), "500", "2000", "20000", "100000");
  }

  /** A JVM that starts has no time to look at so many: the governor is off. */
  @ParameterizedTest
  @MethodSource("jdks")
  void intervalsOfSitesOfEachSizeHoldWhatTheyPromise(Path jdk) throws Exception {
    ChildJvm child = child(jdk).environment("MALLOMETER_OVERHEAD_TARGET", "off");

    assertCovered(jdk, child, "200", "10000", "64", "64000");
  }

  private static void assertCovered(Path jdk, ChildJvm child, String... bounds) {
    List<Known> known =
        IntStream.range(0, RUNS)
            .mapToObj(seed -> List.of(Integer.toString(seed), Integer.toString(SITES)))
            .map(first -> Stream.concat(first.stream(), Stream.of(bounds)).toArray(String[]::new))
            .flatMap(arguments -> run(child, arguments).stream())
            .toList();

    double all = 0;
    for (String figure : FIGURES) {
      List<Known> sites = known.stream().filter(one -> one.figure().equals(figure)).toList();
      long covered = sites.stream().filter(Known::isCovered).count();
      System.out.printf(
          "%s, %s: %d of %d intervals cover the truth%n",
          jdk.getFileName(), figure, covered, sites.size());
      assertThat(sites).hasSize(RUNS * SITES);
      assertThat((double) covered).as(figure).isGreaterThanOrEqualTo(LEAST * sites.size());
      all += covered;
    }
    assertThat(all).isGreaterThanOrEqualTo(COVERED * known.size());
  }

  private ChildJvm child(Path jdk) throws IOException {
    return new ChildJvm().java(jdk).preload(BundledLibrary.extract(directory)).options("-Xmx256m");
  }

  private static List<Known> run(ChildJvm child, String... arguments) {
    String output = child.run(KnownSites.class, arguments).output();
    assertThat(output).contains("no-site=0").contains("not-followed=0");
    return output
        .lines()
        .filter(line -> FIGURES.contains(line.split(" ")[0]))
        .map(Known::of)
        .toList();
  }
}
