package io.mallometer.view;

import io.mallometer.model.Diagnosis;
import java.util.List;
import java.util.Locale;

/**
 * What {@code nativememory/diagnosis} answers: how it stands, in one sentence with its reasons.
 *
 * @param severity {@code fine}, {@code unknown}, {@code attention} or {@code alarm}
 * @param sentence what is the case, without a final full stop
 * @param findings everything that was looked at, the gravest first
 */
public record DiagnosisView(String severity, String sentence, List<Finding> findings)
    implements View {

  /**
   * One thing that was looked at.
   *
   * @param topic what it is about
   * @param severity how much it matters
   * @param text what was found
   */
  public record Finding(String topic, String severity, String text) {

    private static Finding of(Diagnosis.Finding finding) {
      return new Finding(finding.topic(), name(finding.severity()), finding.text());
    }
  }

  static DiagnosisView of(Diagnosis diagnosis) {
    return new DiagnosisView(
        name(diagnosis.severity()),
        diagnosis.sentence(),
        diagnosis.findings().stream().map(Finding::of).toList());
  }

  private static String name(Diagnosis.Severity severity) {
    return severity.name().toLowerCase(Locale.ROOT);
  }
}
