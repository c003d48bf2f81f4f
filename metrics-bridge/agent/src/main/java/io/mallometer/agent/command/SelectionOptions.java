package io.mallometer.agent.command;

import io.mallometer.internal.gate.Selection;
import java.util.List;
import picocli.CommandLine.Option;

/** The options that select measurements. */
final class SelectionOptions {

  static final String ABOUT_RESULTS =
      "files, or directories, of which it reads every *.json, such as target/mallometer";

  @Option(
      names = "--metric",
      paramLabel = "PATTERN",
      description =
          "metrics, such as native.alloc.* or score; may be repeated; "
              + Selection.NATIVE
              + " by default")
  private List<String> metrics = List.of();

  @Option(
      names = "--name",
      paramLabel = "PATTERN",
      description = "tests or benchmarks, such as io.example.Codec*; may be repeated")
  private List<String> names = List.of();

  Selection selection() {
    return new Selection(names, metrics);
  }
}
