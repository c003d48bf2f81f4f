package io.mallometer.interposer;

/** A text as one word of a POSIX shell's command line. */
final class ShellWord {

  private ShellWord() {}

  /** The text itself if it is harmless, else in single quotes. */
  static String quote(String text) {
    return text.matches("[A-Za-z0-9_@%+=:,./-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
