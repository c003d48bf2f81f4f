package io.mallometer.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

class NativeMemoryProfilerTest {

  @TempDir Path directory;

  private Map<String, ? extends Result<?>> run(String method, String options, int forks)
      throws RunnerException, IOException {
    Path file = directory.resolve("results.json");
    ChainedOptionsBuilder builder =
        new OptionsBuilder()
            .include(Allocations.class.getName() + "." + method + "$")
            .addProfiler(NativeMemoryProfiler.class, options)
            .forks(forks)
            .shouldFailOnError(true)
            .verbosity(VerboseMode.EXTRA)
            .resultFormat(ResultFormatType.JSON)
            .result(file.toString());
    Collection<RunResult> results = new Runner(builder.build()).run();
    assertThat(results).hasSize(1);
    // The pattern removes errors and confidence intervals. JMH writes NaN for them because there
    // are too few iterations.
    assertThat(Files.readString(file).replaceAll("\"score(Error|Confidence)\"[^}\\]]*", ""))
        .contains("native.alloc.bytes")
        .doesNotContain("NaN");
    @SuppressWarnings("rawtypes")
    Map secondary = results.iterator().next().getSecondaryResults();
    @SuppressWarnings("unchecked")
    Map<String, ? extends Result<?>> typed = secondary;
    return typed;
  }

  private static double score(Map<String, ? extends Result<?>> results, String name) {
    return results.get("native.alloc." + name).getScore();
  }

  @Test
  void countsOfAForkAreThoseOfTheCode() throws RunnerException, IOException {
    Map<String, ? extends Result<?>> results = run("three", "", 1);
    assertThat(score(results, "calls")).isEqualTo(3, within(0.001));
    assertThat(score(results, "small")).isEqualTo(2, within(0.001));
    assertThat(score(results, "large")).isEqualTo(1, within(0.001));
    assertThat(score(results, "bytes")).isEqualTo(10_200, within(1.0));
    assertThat(score(results, "kept")).isEqualTo(0, within(0.1));
  }

  @Test
  @Tag("any-jdk")
  void whatALeakKeepsIsToldWithItsCallSite() throws RunnerException, IOException {
    Map<String, ? extends Result<?>> results = run("leak", "sites=5", 1);
    assertThat(score(results, "calls")).isEqualTo(1, within(0.001));
    // glibc's chunk for 100 bytes has room for 104.
    assertThat(score(results, "kept")).isEqualTo(104, within(0.1));
    assertThat(results.get("native.alloc.bytes").extendedInfo())
        .contains("com.sun.jna.Native.malloc(Native.java)")
        .contains(Allocations.class.getName() + ".leak(");
  }

  @Test
  @Tag("any-jdk")
  void withoutAForkTheLibraryIsAttachedAndTheProcessCounted() throws RunnerException, IOException {
    Map<String, ? extends Result<?>> results = run("three", "threads=all", 0);
    assertThat(score(results, "calls")).isBetween(2.9, 6.0);
  }

  @Test
  @Tag("any-jdk")
  void optionsThatAreNotKnownAreRefused() {
    assertThatThrownBy(() -> new NativeMemoryProfiler("threads=some"))
        .isInstanceOf(ProfilerException.class)
        .hasMessage("threads is 'some'; it can be workers or all.");
    assertThatThrownBy(() -> new NativeMemoryProfiler("stacks=5"))
        .isInstanceOf(ProfilerException.class)
        .hasMessageContaining("Options: sites=5, threads=workers or all.");
  }
}
