package io.mallometer.meter;

import io.mallometer.model.SelfReport;
import java.util.regex.Pattern;

/**
 * Turns names into values of tags. Removes addresses, which differ from process to process, because
 * monitoring systems store a series for each value.
 */
public final class TagValue {

  /** The longest value, in characters. */
  static final int LONGEST = 200;

  private static final Pattern ADDRESS = Pattern.compile("[+/]?0x[0-9a-fA-F]+");
  private static final Pattern UNSPEAKABLE = Pattern.compile("[\\p{C}\\p{Z}&&[^ ]]");
  private static final String ELLIPSIS = "...";

  private TagValue() {}

  /** Returns a name without addresses and control characters. Cuts a long name. Never empty. */
  public static String of(String name) {
    String clean =
        UNSPEAKABLE.matcher(ADDRESS.matcher(name).replaceAll("")).replaceAll("?").strip();
    if (clean.isEmpty()) {
      return SelfReport.UNKNOWN;
    }
    return clean.length() <= LONGEST ? clean : cut(clean);
  }

  private static String cut(String name) {
    int end = LONGEST - ELLIPSIS.length();
    return name.substring(0, Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end)
        + ELLIPSIS;
  }
}
