package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
@Tag("alone")
class SampledStacksTest {

  private static final int MOST_JAVA_FRAMES = 512;

  private static final Pattern RESULT = Pattern.compile("samples=(\\d+) micros=([\\d.]+)");

  @TempDir private Path directory;

  /** A sample takes one to two microseconds on an idle machine. */
  @Test
  void aSampleWithNativeAndJavaFramesTakesLessThanTenMicroseconds() throws Exception {
    ChildJvm child =
        new ChildJvm()
            .compilingFully()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", "64k")
            .environment("MALLOMETER_OVERHEAD_TARGET", "off");

    String output = child.run(SampleCost.class).output();
    MatchResult result =
        RESULT.matcher(output).results().findFirst().orElseThrow(() -> new AssertionError(output));
    System.out.println(result.group());

    assertThat(Integer.parseInt(result.group(1))).isGreaterThan(1_000);
    assertThat(Double.parseDouble(result.group(2))).isBetween(0.1, 10.0);
  }

  @Test
  void aDeepStackIsKeptUpToItsBoundAndCountedIfThatCutsIt() throws Exception {
    ChildJvm child = new ChildJvm().preload(BundledLibrary.extract(directory));

    assertThat(child.run(DeepCalls.class, "300").output())
        .containsPattern("java=30\\d truncated=0 no_stack=0");
    assertThat(child.run(DeepCalls.class, "700").output())
        .containsPattern("java=" + MOST_JAVA_FRAMES + " truncated=[1-9]");
  }

  @Test
  void compilersCollectorsAndTheVmThreadHaveTheirNativeStacks() throws Exception {
    ChildJvm child =
        new ChildJvm()
            .preload(BundledLibrary.extract(directory))
            .environment("MALLOMETER_SAMPLE_INTERVAL", "4k")
            .environment("MALLOMETER_OVERHEAD_TARGET", "off")
            .options("-XX:+UseG1GC");

    assertThat(child.run(OwnThreads.class).output())
        .contains("CompileBroker::compiler_thread_loop", "VMThread::run")
        .containsAnyOf("GangWorker::run", "WorkerThread::run")
        .doesNotContain("below Java");
  }
}
