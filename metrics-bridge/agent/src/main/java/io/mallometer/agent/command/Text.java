package io.mallometer.agent.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Formats text and columns for people. */
final class Text {

  private static final String START_UP = "start-up (";

  /** Matches a Java frame with a line number in a class outside the JDK. */
  private static final Pattern APPLICATION =
      Pattern.compile("(?!(?:java|javax|jdk|sun|com\\.sun)\\.)[^!+]+\\([^()]+:\\d+\\)");

  private Text() {}

  /** Replaces control characters, which a terminal would obey. */
  static String plain(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }

  /** Cuts or fills a text to a width. */
  static String left(String text, int width) {
    String plain = plain(text);
    if (plain.length() > width) {
      return width > 2 ? plain.substring(0, width - 2) + ".." : plain.substring(0, width);
    }
    return plain + " ".repeat(width - plain.length());
  }

  /** Cuts off the beginning of a name that is too long, because the end of a name says more. */
  static String cutLeft(String text, int width) {
    String plain = plain(text);
    if (plain.length() > width && width > 2) {
      return ".." + plain.substring(plain.length() - width + 2);
    }
    return left(plain, width);
  }

  /** Breaks a text between words into lines. Only a line of one long word exceeds the width. */
  static List<String> wrapped(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split(" ")) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  /**
   * Returns the state and the sentence of a diagnosis. If the sentence begins with the state, as
   * "Too early to tell: ..." does, returns the sentence alone.
   *
   * @param state the state, such as {@code too_early}
   */
  static String diagnosis(String state, String sentence) {
    String words = state.replace('_', ' ');
    boolean told = sentence.toLowerCase(Locale.ROOT).startsWith(words + " ");
    return told ? sentence : words + ": " + sentence;
  }

  static String right(String text, int width) {
    return " ".repeat(Math.max(0, width - text.length())) + text;
  }

  /**
   * Returns the innermost frames of a stack, up to the frame of the call site's method. If no frame
   * has this method, returns the frames up to the application's innermost frame. Returns at least
   * {@code least} frames, or the whole stack if it is shorter.
   *
   * @param frames the frames, innermost first
   * @param name the name of the call site
   */
  static List<String> stack(List<String> frames, String name, int least) {
    String naming = name.startsWith(START_UP) ? name.substring(START_UP.length()) : name;
    String method = naming.replaceFirst("\\)$", "");
    int named =
        first(
            frames,
            frame ->
                frame.equals(method)
                    || frame.startsWith(method + "(")
                    || frame.contains("." + method + "("));
    int shown = named >= 0 ? named : first(frames, APPLICATION.asMatchPredicate());
    return frames.subList(0, Math.min(frames.size(), Math.max(least, shown + 1)));
  }

  private static int first(List<String> frames, Predicate<String> wanted) {
    return IntStream.range(0, frames.size())
        .filter(i -> wanted.test(frames.get(i)))
        .findFirst()
        .orElse(-1);
  }

  static String html(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  static String number(double number) {
    return Double.isNaN(number) ? "-" : String.format(Locale.ROOT, "%,.0f", number);
  }
}
