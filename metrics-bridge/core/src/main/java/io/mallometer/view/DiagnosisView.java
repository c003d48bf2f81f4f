package io.mallometer.view;

import io.mallometer.model.Account;
import io.mallometer.model.Diagnosis;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The answer to {@code nativememory/diagnosis}: the judgement on the process.
 *
 * @param state {@code act}, {@code watch}, {@code too_early} or {@code healthy}
 * @param since when this state began
 * @param sentence what is the case, without a final full stop
 * @param actions what a person can do, at most three
 * @param limit the memory limit, and when it is reached
 * @param findings everything that was looked at, the gravest first
 * @param account the growth as a table that adds up
 * @param named the account's rows that the sentence names
 */
public record DiagnosisView(
    String state,
    Instant since,
    String sentence,
    List<String> actions,
    Diagnosis.Limit limit,
    List<Finding> findings,
    Optional<Account> account,
    List<String> named)
    implements View {

  /**
   * One finding: a topic that was examined, and its result.
   *
   * @param topic what it is about
   * @param state the state that it asks for
   * @param text what was found
   */
  public record Finding(String topic, String state, String text) {

    private static Finding of(Diagnosis.Finding finding) {
      return new Finding(finding.topic(), finding.state().tag(), finding.text());
    }
  }

  static DiagnosisView of(Diagnosis diagnosis) {
    return new DiagnosisView(
        diagnosis.state().tag(),
        diagnosis.since(),
        diagnosis.sentence(),
        diagnosis.actions(),
        diagnosis.limit(),
        diagnosis.findings().stream().map(Finding::of).toList(),
        diagnosis.account(),
        diagnosis.named());
  }
}
