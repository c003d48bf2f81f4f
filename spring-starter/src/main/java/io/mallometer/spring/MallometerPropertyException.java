package io.mallometer.spring;

import java.io.Serial;

/** A property {@code mallometer.*} has a value that makes no sense, which stops the start. */
final class MallometerPropertyException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1;

  private final String property;
  private final String value;
  private final String rule;
  private final String remedy;

  /**
   * Names what is wrong and what to do.
   *
   * @param property the full name
   * @param value as it was understood
   * @param rule what must hold, beginning with "must"
   * @param remedy what to do, one sentence
   */
  MallometerPropertyException(String property, Object value, String rule, String remedy) {
    super(property + " " + rule + ", but is " + value);
    this.property = property;
    this.value = value.toString();
    this.rule = rule;
    this.remedy = remedy;
  }

  String property() {
    return property;
  }

  String value() {
    return value;
  }

  String rule() {
    return rule;
  }

  String remedy() {
    return remedy;
  }
}
