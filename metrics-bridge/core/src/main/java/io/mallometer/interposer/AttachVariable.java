package io.mallometer.interposer;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The environment variable {@code MALLOMETER_ATTACH}, by which an operator forbids to attach,
 * whatever a program's own configuration says. The library and the starter read it too.
 *
 * <p>A value that it cannot have forbids as well: whoever mistypes {@code off} wants that more
 * likely than anything else.
 */
final class AttachVariable {

  static final String NAME = "MALLOMETER_ATTACH";

  private static final List<String> OFF = List.of("off", "false", "0", "no");
  private static final List<String> ALLOWED =
      List.of("", "auto", "early", "relaunch", "on", "true", "1", "yes");

  private AttachVariable() {}

  /** What is written that forbids to attach; empty if nothing does. */
  static Optional<String> objection() {
    return objection(System.getenv().getOrDefault(NAME, ""));
  }

  static Optional<String> objection(String value) {
    String word = value.strip().toLowerCase(Locale.ROOT);
    if (ALLOWED.contains(word)) {
      return Optional.empty();
    }
    String setting = NAME + "=" + value;
    return Optional.of(
        OFF.contains(word) ? setting : setting + " is none of auto, early, relaunch and off");
  }
}
