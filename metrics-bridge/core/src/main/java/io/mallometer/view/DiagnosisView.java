package io.mallometer.view;

import io.mallometer.model.Conclusion;
import java.util.List;

/**
 * The answer to {@code nativememory/diagnosis}: the {@link ConclusionView conclusion} by the names
 * of the version before.
 *
 * @param severity {@code fine}, {@code unknown}, {@code attention} or {@code alarm}
 * @param sentence what is the case, without a final full stop
 * @param findings everything that was looked at, the gravest first
 */
public record DiagnosisView(String severity, String sentence, List<Finding> findings)
    implements View {

  /**
   * One finding: a topic that was examined, and its result.
   *
   * @param topic what it is about
   * @param severity how much it matters
   * @param text what was found
   */
  public record Finding(String topic, String severity, String text) {

    private static Finding of(Conclusion.Finding finding) {
      return new Finding(finding.topic(), word(finding.state()), finding.text());
    }
  }

  static DiagnosisView of(Conclusion conclusion) {
    return new DiagnosisView(
        word(conclusion.state()),
        conclusion.sentence(),
        conclusion.findings().stream().map(Finding::of).toList());
  }

  private static String word(Conclusion.State state) {
    return switch (state) {
      case HEALTHY -> "fine";
      case TOO_EARLY -> "unknown";
      case WATCH -> "attention";
      case ACT -> "alarm";
    };
  }
}
