package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class GateOptionsTest {

  private static GateOptions parsed(String... words) {
    GateOptions options = new GateOptions();
    CommandSpec command = CommandSpec.create();
    command.addMixin("gate", CommandSpec.forAnnotatedObject(options));
    new CommandLine(command).parseArgs(words);
    return options;
  }

  private static int exitCode(GateOptions options, Throwable failure) throws IOException {
    return options.exitCode(
        tolerance -> {
          if (failure instanceof IOException e) {
            throw e;
          }
          if (failure instanceof Error e) {
            throw e;
          }
          throw (RuntimeException) failure;
        });
  }

  /** An uncaught exception makes the JVM exit with 1, which git bisect takes for a bad commit. */
  @Test
  void aFailureOfTheComparisonBlamesNoCommit() throws IOException {
    for (Throwable failure :
        List.of(
            new IOException("no such file"),
            new IllegalStateException("a mistake of ours"),
            new OutOfMemoryError("Required array size too large"))) {
      assertThat(exitCode(parsed("--bisect"), failure)).isEqualTo(125);
      assertThatThrownBy(() -> exitCode(parsed(), failure)).isSameAs(failure);
    }
  }
}
