package io.mallometer.model;

import java.util.List;

/**
 * How it stands with native memory, in one sentence.
 *
 * @param severity how much it matters; that of the gravest finding
 * @param sentence what is the case, without a final full stop
 * @param findings everything that was looked at, the gravest first: the reasons of the sentence
 */
public record Diagnosis(Severity severity, String sentence, List<Finding> findings) {

  /** How much something matters, the least first. */
  public enum Severity {
    /** Nothing has to be done. */
    FINE,
    /** It cannot be told. */
    UNKNOWN,
    /** Worth a look. */
    ATTENTION,
    /** The process is about to be killed, or will be soon. */
    ALARM
  }

  /**
   * One thing that was looked at.
   *
   * @param topic what it is about: {@code limit}, {@code leaks}, {@code growth}, {@code retained},
   *     {@code budget}, {@code unexplained} or {@code counting}
   * @param severity how much it matters
   * @param text what was found, in words and numbers
   */
  public record Finding(String topic, Severity severity, String text) {}

  public Diagnosis {
    findings = List.copyOf(findings);
  }
}
