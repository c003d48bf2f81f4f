package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
class WaitsForACollectionTest {

  @TempDir private Path directory;

  /** Returns a collector whose System.gc() does not begin with a young collection. */
  static String collector() {
    return Runtime.version().feature() < 25 ? "-XX:+UseSerialGC" : "-XX:+UseG1GC";
  }

  private String run(String... options) throws Exception {
    ChildJvm.Result result =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", "8192")
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options("-XX:MaxDirectMemorySize=2g")
            // The young generation is large, so that no young collection comes between two calls of
            // System.gc(). A young collection would free the dropped buffers too early.
            .options("-Xms600m", "-Xmx600m", "-Xmn400m")
            .options(options)
            .timeout(Duration.ofMinutes(3))
            .run(WaitsForACollection.class);
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result.output();
  }

  @Test
  void garbageWaitsAndLeaksAndCachesNever() throws Exception {
    assertThat(run(collector()))
        .contains("drop waits_for_gc old", "reason \n")
        .containsPattern("halve \\w+ old")
        .doesNotContain("keep waits_for_gc", "remember waits_for_gc", "halve waits_for_gc")
        .doesNotContainPattern("keep \\w+ old")
        .doesNotContainPattern("remember \\w+ old");
  }

  @Test
  @Tag("any-jdk")
  void withoutCountersNothingIsJudgedAndTheReasonIsSaid() throws Exception {
    assertThat(run("-XX:-UsePerfData", "-XX:+UseSerialGC", "-Dcollections=1"))
        .contains("reason the JVM has no counters of collections (-XX:-UsePerfData")
        .containsPattern("drop \\w+ none")
        .doesNotContainPattern("drop \\w+ (?!none)");
  }
}
