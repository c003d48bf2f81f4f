package io.mallometer.agent.command;

import io.mallometer.internal.gate.Comparison;
import io.mallometer.internal.gate.Format;
import io.mallometer.internal.gate.Outcome;
import io.mallometer.internal.gate.Tolerance;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that decide how results are compared and how the comparison is printed. */
final class GateOptions {

  @Option(
      names = "--preset",
      defaultValue = "default",
      description =
          "allowed difference: strict (none, at any percentile), default (5 %% at p25, p50 and"
              + " p75) or relaxed (25 %% there); a threshold file's own tolerance comes first")
  private String preset = "default";

  @Option(
      names = "--relative",
      paramLabel = "SHARE",
      description = "allowed share, in place of the preset's, such as 10%% or 0.1")
  private @Nullable String relative;

  @Option(
      names = "--absolute",
      paramLabel = "AMOUNT",
      description =
          "allowed difference in the metric's unit, such as 100 or 4KiB; the larger of this and"
              + " the share applies")
  private @Nullable String absolute;

  @Option(
      names = "--percentiles",
      paramLabel = "NAMES",
      split = ",",
      description = "percentiles to judge: p0, p25, p50, p75, p90, p99, p100")
  private List<String> percentiles = List.of();

  @Option(
      names = "--format",
      defaultValue = "text",
      description = "text, markdown, json, junit or github; ${DEFAULT-VALUE} by default")
  private String format = "text";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "the file to write, in place of standard output")
  private @Nullable Path output;

  @Option(
      names = "--bisect",
      description =
          "exit as git bisect run expects: 0 if equal or better, 1 if worse, 125 if it could not be"
              + " measured")
  private boolean bisect;

  /** Compares results with each other. Throws an IOException if the results cannot be read. */
  interface Comparing {
    Comparison with(Tolerance tolerance) throws IOException;
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec specification = CommandSpec.create();

  int exitCode(Comparing comparing) throws IOException {
    Tolerance tolerance;
    Format chosen;
    try {
      tolerance = Tolerance.of(preset, relative, absolute, percentiles);
      chosen = Format.of(format);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(specification.commandLine(), e.getMessage(), e);
    }
    Outcome outcome;
    try (Output out = Output.to(output)) {
      Comparison comparison = comparing.with(tolerance);
      out.print(chosen.of(comparison)).finish();
      outcome = comparison.outcome();
    } catch (IOException | RuntimeException | Error e) {
      if (!bisect) {
        throw e;
      }
      // The usual exit code 1 would make git bisect mark the commit as bad.
      String message = e instanceof IOException ? String.valueOf(e.getMessage()) : e.toString();
      System.err.println("mallometer: " + Text.plain(message));
      outcome = Outcome.NOT_MEASURED;
    }
    return bisect ? outcome.bisectCode() : outcome.exitCode();
  }
}
