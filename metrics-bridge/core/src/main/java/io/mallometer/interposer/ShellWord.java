package io.mallometer.interposer;

/** A text as one word of a POSIX shell's command line. */
final class ShellWord {

  private static final String HARMLESS_MARKS = "_@%+=:,./-";

  private ShellWord() {}

  /** The text itself if it is harmless, else in single quotes. */
  static String quote(String text) {
    return isHarmless(text) ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  private static boolean isHarmless(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
      boolean digit = c >= '0' && c <= '9';
      if (!letter && !digit && HARMLESS_MARKS.indexOf(c) < 0) {
        return false;
      }
    }
    return !text.isEmpty();
  }
}
