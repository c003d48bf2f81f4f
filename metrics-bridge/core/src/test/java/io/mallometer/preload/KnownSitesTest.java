package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import io.mallometer.preload.LibrarySites.Library;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares estimates with the true figures, for call sites of Unsafe and of libraries. Estimates
 * are exact if every allocation is sampled. Otherwise each estimate has an interval, and at least
 * the share {@link #COVERED} of the intervals must contain the true figure.
 */
@Tag("process")
@Tag("alone")
class KnownSitesTest {

  private static final List<String> FIGURES =
      List.of("allocated-objects", "allocated-bytes", "live-objects", "live-bytes");

  private static final int SITES = 40;

  /**
   * Several runs are judged together. In one run, each figure has a confidence interval for each of
   * 40 sites. The probability that fewer than 34 of these contain the true value is about 1/300.
   */
  private static final int RUNS = 3;

  private static final double COVERED = 34.0 / 40;

  private static final double LEAST = 32.0 / 40;

  /**
   * A quarter of the default sampling interval. It yields many samples. Few objects are so large
   * that they are sampled with certainty.
   */
  private static final String SMALL_INTERVAL = "131072";

  private static final Pattern OF_LIBRARY = Pattern.compile("[A-Z]+ \\d+ [a-z-]+( [\\d.]+){4}");

  @TempDir private Path directory;

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

    boolean isCertain() {
      return low == high;
    }

    boolean isCovered() {
      return low <= truth && truth <= high;
    }
  }

  private record Said(
      String library, String figure, double low, double value, double high, double variance) {

    static Said of(String line) {
      String[] words = line.split(" ");
      double[] numbers = Arrays.stream(words).skip(3).mapToDouble(Double::parseDouble).toArray();
      return new Said(words[0], words[2], numbers[0], numbers[1], numbers[2], numbers[3]);
    }

    boolean isExact() {
      boolean something = value > 0 || figure.startsWith("live");
      return something && low == value && high == value && variance == 0;
    }

    Known knowing(Said truth) {
      return new Known(figure, truth.value, low, value, high, variance);
    }
  }

  @Test
  void anIntervalOfOneIsExact() throws Exception {
    ChildJvm child = child().environment("MALLOMETER_SAMPLE_INTERVAL", "1");

    List<Known> known = run(child, "1", "20", "5", "1000", "64", "64000");

    assertThat(known).hasSize(20 * FIGURES.size()).allMatch(Known::isExact);
  }

  @Test
  @Tag("any-jdk")
  void intervalsOfLargeSitesHoldWhatTheyPromiseFromTheStart() throws Exception {
    assertCovered(child(), "500", "2000", "20000", "100000");
  }

  /** The overhead target is off, because it would limit the samples at the start of a JVM. */
  @Test
  @Tag("any-jdk")
  void intervalsOfSitesOfEachSizeHoldWhatTheyPromise() throws Exception {
    ChildJvm child = child().environment("MALLOMETER_OVERHEAD_TARGET", "off");

    assertCovered(child, "200", "10000", "64", "64000");
  }

  /** A run in which every allocation is sampled gives the true values. */
  @Test
  @Tag("any-jdk")
  void intervalsOfLibrariesHoldWhatTheyPromise() throws Exception {
    ChildJvm child =
        child()
            // The C2 compiler would only take time in a run of two seconds.
            .options("-XX:TieredStopAtLevel=1")
            .environment("MALLOMETER_ENABLED", "false") // the program itself switches counting on
            .environment("MALLOMETER_OVERHEAD_TARGET", "off");
    List<Said> exact = runLibraries(child, "1");
    List<List<Said>> sampled =
        IntStream.range(0, RUNS).mapToObj(run -> runLibraries(child, SMALL_INTERVAL)).toList();

    assertThat(exact).hasSize(Library.values().length * SITES * FIGURES.size());
    assertThat(exact).allMatch(Said::isExact);
    for (Library library : Library.values()) {
      List<Known> known = sampled.stream().flatMap(run -> known(library, exact, run)).toList();
      assertThat(known).filteredOn(Known::isCertain).hasSizeLessThan(known.size() / 10);
      assertCovered(library.toString(), known);
    }
  }

  private static Stream<Known> known(Library library, List<Said> exact, List<Said> run) {
    return IntStream.range(0, exact.size())
        .filter(i -> exact.get(i).library().equals(library.name()))
        .mapToObj(i -> run.get(i).knowing(exact.get(i)));
  }

  private static void assertCovered(ChildJvm child, String... bounds) {
    List<Known> known =
        IntStream.range(0, RUNS)
            .mapToObj(seed -> List.of(Integer.toString(seed), Integer.toString(SITES)))
            .map(first -> Stream.concat(first.stream(), Stream.of(bounds)).toArray(String[]::new))
            .flatMap(arguments -> run(child, arguments).stream())
            .toList();
    assertCovered("the program", known);
  }

  private static void assertCovered(String of, List<Known> known) {
    double all = 0;
    for (String figure : FIGURES) {
      List<Known> sites = known.stream().filter(one -> one.figure().equals(figure)).toList();
      long covered = sites.stream().filter(Known::isCovered).count();
      System.out.printf(
          "%s, %s: %d of %d intervals cover the truth%n", of, figure, covered, sites.size());
      assertThat(sites).hasSize(RUNS * SITES);
      assertThat((double) covered)
          .as(of + ", " + figure)
          .isGreaterThanOrEqualTo(LEAST * sites.size());
      all += covered;
    }
    assertThat(all).as(of).isGreaterThanOrEqualTo(COVERED * known.size());
  }

  private ChildJvm child() throws IOException {
    return new ChildJvm()
        .compilingFully()
        .preload(BundledLibrary.extract(directory))
        .options("-Xmx256m");
  }

  private static List<Known> run(ChildJvm child, String... arguments) {
    String output = child.run(KnownSites.class, arguments).output();
    assertThat(output).contains("no_site=0").contains("not_followed=0");
    return output
        .lines()
        .filter(line -> FIGURES.contains(line.split(" ")[0]))
        .map(Known::of)
        .toList();
  }

  private static List<Said> runLibraries(ChildJvm child, String interval) {
    child.environment("MALLOMETER_SAMPLE_INTERVAL", interval);
    String output = child.run(LibrarySites.class, Integer.toString(SITES)).output();
    assertThat(output).contains("no_site=0").contains("not_followed=0");
    return output.lines().filter(line -> OF_LIBRARY.matcher(line).matches()).map(Said::of).toList();
  }
}
