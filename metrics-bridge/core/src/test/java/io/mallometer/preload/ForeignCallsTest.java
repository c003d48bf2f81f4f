package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.ChildJvm;
import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that call sites of the foreign-function interface have names, even where the call is
 * inlined.
 */
@Tag("process")
@EnabledForJreRange(min = JRE.JAVA_22)
class ForeignCallsTest {

  private static final long LEAST_BYTES = 1 << 20;
  private static final String PROGRAM = "io.mallometer.preload.ForeignCalls$";

  @Test
  void allThatACallAllocatesIsOfTheMethodThatCalls(@TempDir Path directory) throws Exception {
    ChildJvm.Result result =
        new ChildJvm()
            .compilingFully()
            .preload(BundledLibrary.extract(directory))
            .options("-Xmx256m", "--enable-native-access=ALL-UNNAMED")
            .run(ForeignCalls.class, "8");

    // Sites with few bytes are excluded, because they come from the loading of libraries or from
    // code that the JVM has discarded.
    List<String> sites =
        result
            .output()
            .lines()
            .filter(line -> line.contains(PROGRAM + "Assembler"))
            .filter(line -> Long.parseLong(line.split("\t")[1]) >= LEAST_BYTES)
            .toList();
    assertThat(sites).as(result.output()).isNotEmpty();
    // Stacks that were recorded before the JIT compiler inlined the methods must have the same Java
    // frames as those recorded afterwards.
    assertThat(sites)
        .allMatch(line -> line.startsWith(PROGRAM + "Allocator.malloc\t"))
        .allMatch(line -> line.split("\t")[2].equals(PROGRAM + "Allocator.malloc"))
        .allMatch(line -> line.contains("\t" + PROGRAM + "Allocator.malloc(ForeignCalls.java:"))
        .allMatch(line -> line.contains(" " + PROGRAM + "Buffer.<init>(ForeignCalls.java:"));
  }
}
