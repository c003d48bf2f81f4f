package io.mallometer.maven;

import io.mallometer.internal.gate.Comparison;
import io.mallometer.internal.gate.FigureChange;
import io.mallometer.internal.gate.Format;
import io.mallometer.internal.gate.Outcome;
import io.mallometer.internal.gate.Results;
import io.mallometer.internal.gate.Selection;
import io.mallometer.internal.gate.Thresholds;
import io.mallometer.internal.gate.Tolerance;
import io.mallometer.internal.gate.WholeFile;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.jspecify.annotations.Nullable;

/**
 * Compares measured native memory with the project's thresholds. Fails the build if anything is
 * worse, if an expected metric was not measured, or if there are no results. With {@code
 * -Dmallometer.update} it writes the thresholds instead.
 */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends AbstractMojo {

  /** Files with results, or directories whose {@code *.json} are read. */
  @Parameter(
      property = "mallometer.results",
      defaultValue = "${project.build.directory}/mallometer")
  private List<File> results = List.of();

  /** The directory of the thresholds, which belongs under version control. */
  @Parameter(
      property = "mallometer.thresholds",
      defaultValue = "${project.basedir}/mallometer/thresholds")
  private File thresholds = new File("");

  /** The metrics to compare; {@code *} stands for any text. The default is {@code native.*}. */
  @Parameter(property = "mallometer.metrics")
  private List<String> metrics = List.of();

  /** The tests and benchmarks to compare; all by default. */
  @Parameter(property = "mallometer.names")
  private List<String> names = List.of();

  /** The allowed difference: {@code strict}, {@code default} or {@code relaxed}. */
  @Parameter(property = "mallometer.preset", defaultValue = "default")
  private String preset = "default";

  /** The allowed relative difference, in place of the preset's, such as {@code 10%}. */
  @Parameter(property = "mallometer.relative")
  private @Nullable String relative;

  /** The difference that is always allowed, such as {@code 4KiB}. */
  @Parameter(property = "mallometer.absolute")
  private @Nullable String absolute;

  /** The percentiles to judge, in place of the preset's, such as {@code p50,p90}. */
  @Parameter(property = "mallometer.percentiles")
  private List<String> percentiles = List.of();

  /**
   * The file to which the comparison is written, in addition to the build's output; none by
   * default.
   */
  @Parameter(property = "mallometer.report")
  private @Nullable File report;

  /**
   * The report's format: {@code text}, {@code markdown}, {@code json}, {@code junit} or {@code
   * github}.
   */
  @Parameter(property = "mallometer.format", defaultValue = "junit")
  private String format = "junit";

  /** Whether to write the results as thresholds instead of comparing them. */
  @Parameter(property = "mallometer.update", defaultValue = "false")
  private boolean update;

  /**
   * Whether to skip this goal: results are then neither compared with the thresholds nor written to
   * them.
   */
  @Parameter(property = "mallometer.skip", defaultValue = "false")
  private boolean skip;

  @Override
  public void execute() throws MojoExecutionException, MojoFailureException {
    if (skip) {
      getLog().info("Native memory is not compared: mallometer.skip is set");
      return;
    }
    try {
      Selection selection = new Selection(names, metrics);
      Tolerance tolerance = Tolerance.of(preset, relative, absolute, percentiles);
      Format chosen = Format.of(format);
      Results measured = Results.read(results.stream().map(File::toPath).toList(), selection);
      Thresholds kept = new Thresholds(thresholds.toPath());
      if (update) {
        write(kept, measured, selection);
      } else {
        judge(Comparison.of(kept.read(selection), measured, tolerance), chosen);
      }
    } catch (IllegalArgumentException e) {
      throw new MojoExecutionException("mallometer: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new MojoExecutionException(
          "Native memory could not be compared: "
              + e.getMessage()
              + ". The build option -Dmallometer.skip leaves the comparison out.",
          e);
    }
  }

  private void write(Thresholds kept, Results measured, Selection selection) throws IOException {
    List<Path> changed = kept.update(measured, selection);
    changed.forEach(file -> getLog().info("Wrote " + file));
    if (changed.isEmpty()) {
      getLog().info("The thresholds are unchanged");
    }
  }

  private void judge(Comparison comparison, Format chosen)
      throws IOException, MojoFailureException {
    String text = Format.TEXT.of(comparison).strip();
    if (report != null) {
      WholeFile.write(report.toPath(), chosen.of(comparison));
    }
    Outcome outcome = comparison.outcome();
    if (outcome == Outcome.WORSE || outcome == Outcome.NOT_MEASURED) {
      throw new MojoFailureException("Native memory is " + outcome.id() + ":\n" + text);
    }
    if (comparison.count(FigureChange.NOISE) > 0) {
      getLog().warn(text);
    } else {
      getLog().info(text);
    }
  }
}
