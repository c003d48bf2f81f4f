package io.mallometer.model;

import java.io.Serial;

/** Thrown for a setting whose value is not allowed. The message names the setting and the rule. */
public final class InvalidSettingException extends IllegalArgumentException {

  @Serial private static final long serialVersionUID = 1;

  private final transient Setting<?> setting;
  private final String value;
  private final String rule;

  InvalidSettingException(Setting<?> setting, String spelled, String value, String rule) {
    super(spelled + " is \"" + value + "\" and " + rule);
    this.setting = setting;
    this.value = value;
    this.rule = rule;
  }

  /** Returns the setting. */
  public Setting<?> setting() {
    return setting;
  }

  /** Returns the value as text, masked if it is secret. */
  public String value() {
    return value;
  }

  /** Returns the rule for the value, beginning with "must". */
  public String rule() {
    return rule;
  }
}
