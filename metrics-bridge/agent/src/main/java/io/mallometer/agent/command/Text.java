package io.mallometer.agent.command;

import java.util.Locale;

/** Words and columns for people. */
final class Text {

  private Text() {}

  /** Without what a terminal would obey. */
  static String plain(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }

  /** Cut to a width, or filled up to it. */
  static String left(String text, int width) {
    String plain = plain(text);
    if (plain.length() > width) {
      return width > 2 ? plain.substring(0, width - 2) + ".." : plain.substring(0, width);
    }
    return plain + " ".repeat(width - plain.length());
  }

  /** The end of a name says more than its beginning. */
  static String cutLeft(String text, int width) {
    String plain = plain(text);
    if (plain.length() > width && width > 2) {
      return ".." + plain.substring(plain.length() - width + 2);
    }
    return left(plain, width);
  }

  static String right(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }

  static String html(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  static String number(double number) {
    return Double.isNaN(number) ? "-" : String.format(Locale.ROOT, "%,.0f", number);
  }
}
