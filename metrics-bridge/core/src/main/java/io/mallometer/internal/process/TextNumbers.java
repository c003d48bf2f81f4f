package io.mallometer.internal.process;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses whole numbers in texts that may be corrupt. The result of an invalid number is empty. */
final class TextNumbers {

  private TextNumbers() {}

  /** Returns a decimal number from 0 to {@code Long.MAX_VALUE}; empty for anything else. */
  static OptionalLong decimal(String text) {
    return number(text, 10);
  }

  static OptionalLong hexadecimal(String text) {
    return number(text, 16);
  }

  static OptionalLong first(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? decimal(matcher.group(1)) : OptionalLong.empty();
  }

  /** Returns the sum, at most {@code Long.MAX_VALUE}. */
  static long sum(long sum, OptionalLong more) {
    long result = sum + more.orElse(0);
    return result < 0 ? Long.MAX_VALUE : result;
  }

  private static OptionalLong number(String text, int radix) {
    try {
      long number = Long.parseLong(text.strip(), radix);
      return number < 0 ? OptionalLong.empty() : OptionalLong.of(number);
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
