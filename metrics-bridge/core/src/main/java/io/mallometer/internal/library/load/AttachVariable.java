package io.mallometer.internal.library.load;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The environment variable {@code MALLOMETER_ATTACH}, by which an operator forbids attaching,
 * whatever a program's own configuration says. The library reads it too.
 *
 * <p>An invalid value forbids attaching as well: it is most likely a mistyped {@code off}.
 */
public final class AttachVariable {

  public static final String NAME = "MALLOMETER_ATTACH";

  private static final List<String> OFF = List.of("off", "false", "0", "no");
  private static final List<String> ON = List.of("on", "true", "1", "yes");
  private static final List<String> MODES = List.of("", "auto", "early");

  private AttachVariable() {}

  public static String value() {
    return System.getenv().getOrDefault(NAME, "");
  }

  /** Returns the name and value, such as {@code MALLOMETER_ATTACH=off}. */
  static String setting() {
    return setting(value());
  }

  private static String setting(String value) {
    return NAME + "=" + value;
  }

  static Optional<String> objection() {
    return objection(value());
  }

  /** Returns why a process with this value must not attach; empty if it may. */
  public static Optional<String> objection(String value) {
    String word = word(value);
    if (MODES.contains(word) || ON.contains(word)) {
      return Optional.empty();
    }
    String setting = setting(value);
    return Optional.of(OFF.contains(word) ? setting : setting + " is none of auto, early and off");
  }

  /** Returns whether a value allows attaching but names no mode, such as {@code true}. */
  public static boolean isOn(String value) {
    return ON.contains(word(value));
  }

  private static String word(String value) {
    return value.strip().toLowerCase(Locale.ROOT);
  }
}
