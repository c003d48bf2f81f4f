package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Garbage, leaks and soft caches in a real JVM, as collections tell of them. */
@Tag("process")
class WaitsForACollectionTest {

  @TempDir private Path directory;

  /** With these collectors System.gc() makes no young collection first. */
  static List<String> collectors() {
    return List.of("-XX:+UseG1GC", "-XX:+UseSerialGC");
  }

  private String run(String... options) throws Exception {
    ChildJvm.Result result =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", "8192")
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options("-XX:MaxDirectMemorySize=2g")
            // No evaluation fills this young generation: its collection would free what is dropped.
            .options("-Xms600m", "-Xmx600m", "-Xmn400m")
            .options(options)
            .run(WaitsForACollection.class);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result.output();
  }

  @ParameterizedTest
  @MethodSource("collectors")
  void garbageWaitsAndLeaksAndCachesNever(String collector) throws Exception {
    assertThat(run(collector))
        .contains("drop waits_for_gc old", "reason \n")
        .containsPattern("halve \\w+ old")
        .doesNotContain("keep waits_for_gc", "remember waits_for_gc", "halve waits_for_gc")
        .doesNotContainPattern("keep \\w+ old")
        .doesNotContainPattern("remember \\w+ old");
  }

  @Test
  @Tag("any-jdk")
  void withoutCountersNothingIsJudgedAndTheReasonIsSaid() throws Exception {
    assertThat(run("-XX:-UsePerfData", "-XX:+UseSerialGC", "-Dcollections=3"))
        .contains("reason the JVM has no counters of collections (-XX:-UsePerfData")
        .containsPattern("drop \\w+ none")
        .doesNotContain("waits_for_gc");
  }
}
