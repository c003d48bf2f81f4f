package io.mallometer.view;

import io.mallometer.model.Conclusion;
import java.time.Instant;
import java.util.List;

/**
 * The answer to {@code nativememory/conclusion}: the judgement on the process.
 *
 * @param state {@code act}, {@code watch}, {@code too_early} or {@code healthy}
 * @param since when this state began
 * @param sentence what is the case, without a final full stop
 * @param actions what a person can do, at most three
 * @param limit the memory limit, and when it is reached
 * @param findings everything that was looked at, the gravest first
 */
public record ConclusionView(
    String state,
    Instant since,
    String sentence,
    List<String> actions,
    Conclusion.Limit limit,
    List<Finding> findings)
    implements View {

  /**
   * One finding: a topic that was examined, and its result.
   *
   * @param topic what it is about
   * @param state the state that it asks for
   * @param text what was found
   */
  public record Finding(String topic, String state, String text) {

    private static Finding of(Conclusion.Finding finding) {
      return new Finding(finding.topic(), finding.state().tag(), finding.text());
    }
  }

  static ConclusionView of(Conclusion conclusion) {
    return new ConclusionView(
        conclusion.state().tag(),
        conclusion.since(),
        conclusion.sentence(),
        conclusion.actions(),
        conclusion.limit(),
        conclusion.findings().stream().map(Finding::of).toList());
  }
}
