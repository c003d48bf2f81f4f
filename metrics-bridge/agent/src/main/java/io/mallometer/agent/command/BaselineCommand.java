package io.mallometer.agent.command;

import io.mallometer.internal.gate.Baselines;
import io.mallometer.internal.gate.Comparison;
import io.mallometer.internal.gate.Results;
import io.mallometer.internal.gate.Selection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Saves results under a name, and compares results with saved ones. */
@Command(
    name = "baseline",
    description = {
      "Saves measured native memory under a name, and compares later measurements with it. Reads"
          + " the output of JMH with -rf json, the output of report --format json, and arrays of"
          + " results (docs/reference/gates.md)."
    })
final class BaselineCommand {

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      defaultValue = "mallometer/baselines",
      description = "directory of baselines; ${DEFAULT-VALUE} by default")
  private Path directory = Path.of("mallometer/baselines");

  @Spec private CommandSpec specification = CommandSpec.create();

  @Command(
      name = "save",
      description = {
        "Saves results as a baseline, and replaces its previous content. Several files of the"
            + " same tests are combined, so that the spread between runs is known."
      })
  int save(
      @Parameters(paramLabel = "NAME", description = "a name, such as main") String name,
      @Parameters(arity = "1..*", paramLabel = "FILE", description = SelectionOptions.ABOUT_RESULTS)
          List<Path> files,
      @Mixin SelectionOptions options)
      throws IOException {
    check(List.of(name));
    Results results = Results.read(files, options.selection());
    Path file = new Baselines(directory).save(name, results);
    print("saved " + results.size() + " samples as " + name + " in " + file);
    return ExitCode.OK;
  }

  @Command(name = "list", description = "Lists the names of all baselines.")
  int list() throws IOException {
    print(new Baselines(directory).names().toArray(String[]::new));
    return ExitCode.OK;
  }

  @Command(
      name = "compare",
      description = {
        "Compares results, or another baseline, with a baseline. Exits with 0 if they are equal,"
            + " with 2 if a result is worse, and with 4 if a result is better and none is worse."
      })
  int compare(
      @Parameters(paramLabel = "NAME", description = "the baseline") String name,
      @Parameters(
              arity = "1..*",
              paramLabel = "FILE|NAME",
              description = SelectionOptions.ABOUT_RESULTS + "; or other baselines")
          List<String> others,
      @Mixin SelectionOptions options,
      @Mixin GateOptions gate)
      throws IOException {
    check(List.of(name));
    Baselines baselines = new Baselines(directory);
    Selection selection = options.selection();
    return gate.exitCode(
        tolerance ->
            Comparison.of(
                baselines.read(name, selection).expected(),
                Results.read(paths(baselines, others), selection),
                tolerance));
  }

  /** Returns a file for each word: the baseline with this name, or else the file with this path. */
  private static List<Path> paths(Baselines baselines, List<String> words) throws IOException {
    List<String> names = baselines.names();
    List<Path> paths = new ArrayList<>();
    for (String word : words) {
      Path path = names.contains(word) ? baselines.file(word) : Path.of(word);
      if (!Files.exists(path)) {
        throw new IOException(word + " is neither a file nor a baseline");
      }
      paths.add(path);
    }
    return paths;
  }

  @Command(name = "delete", description = "Deletes baselines.")
  int delete(@Parameters(arity = "1..*", paramLabel = "NAME") List<String> names)
      throws IOException {
    check(names);
    for (String name : names) {
      new Baselines(directory).delete(name);
    }
    return ExitCode.OK;
  }

  /** Checks the names before any file is read or deleted. */
  private void check(List<String> names) {
    try {
      names.forEach(new Baselines(directory)::file);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(specification.commandLine(), e.getMessage(), e);
    }
  }

  private static void print(String... lines) throws IOException {
    Output out = Output.standard();
    for (String line : lines) {
      out.line(line);
    }
    out.flush();
  }
}
