package io.mallometer.agent.command;

import io.mallometer.internal.gate.Comparison;
import io.mallometer.internal.gate.Results;
import io.mallometer.internal.gate.Selection;
import io.mallometer.internal.gate.Thresholds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;

/** Compares results with the thresholds under version control, and updates them. */
@Command(
    name = "thresholds",
    description = {
      "Compares measured native memory with the thresholds that a project keeps under version"
          + " control, a file for each test or benchmark. Reads the files that baseline reads."
    })
final class ThresholdsCommand {

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      defaultValue = "mallometer/thresholds",
      description = "directory of thresholds; ${DEFAULT-VALUE} by default")
  private Path directory = Path.of("mallometer/thresholds");

  @Command(
      name = "check",
      description = {
        "Compares results with the thresholds. Exits with 0 if they are equal, with 2 if a"
            + " result is worse, and with 4 if a result is better and none is worse."
      })
  int check(
      @Parameters(arity = "1..*", paramLabel = "FILE", description = SelectionOptions.ABOUT_RESULTS)
          List<Path> files,
      @Mixin SelectionOptions options,
      @Mixin GateOptions gate)
      throws IOException {
    Selection selection = options.selection();
    return gate.exitCode(
        tolerance ->
            Comparison.of(
                new Thresholds(directory).read(selection),
                Results.read(files, selection),
                tolerance));
  }

  @Command(
      name = "update",
      description = {
        "Writes results as the thresholds. The tolerances in the files stay, and so do the"
            + " thresholds of tests without results. Prints the files that changed."
      })
  int update(
      @Parameters(arity = "1..*", paramLabel = "FILE", description = SelectionOptions.ABOUT_RESULTS)
          List<Path> files,
      @Mixin SelectionOptions options)
      throws IOException {
    Selection selection = options.selection();
    Output out = Output.standard();
    for (Path file : new Thresholds(directory).update(Results.read(files, selection), selection)) {
      out.line(file.toString());
    }
    out.flush();
    return ExitCode.OK;
  }
}
