package io.mallometer.internal.text;

import java.io.IOException;
import java.io.Writer;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON, and places the commas. Inside an HTML script element it escapes {@code <}, which
 * could begin the end tag.
 */
public final class JsonWriter {

  private static final int DECIMALS = 3;
  private static final int THOUSAND = 1_000;
  private static final double LARGEST_EXACT = 0x1p53;
  private static final int MOST_DIGITS = 20;

  private final Writer out;
  private final boolean insideHtml;
  private final char[] digits = new char[MOST_DIGITS];
  private boolean commaIsDue;

  private JsonWriter(Writer out, boolean insideHtml) {
    this.out = out;
    this.insideHtml = insideHtml;
  }

  public static JsonWriter to(Writer out) {
    return new JsonWriter(out, false);
  }

  public static JsonWriter insideHtml(Writer out) {
    return new JsonWriter(out, true);
  }

  public JsonWriter beginObject() throws IOException {
    return begin('{');
  }

  public JsonWriter endObject() throws IOException {
    return end('}');
  }

  public JsonWriter beginArray() throws IOException {
    return begin('[');
  }

  public JsonWriter endArray() throws IOException {
    return end(']');
  }

  public JsonWriter name(String name) throws IOException {
    separate();
    quote(name);
    out.write(':');
    commaIsDue = false;
    return this;
  }

  public JsonWriter value(String text) throws IOException {
    separate();
    quote(text);
    return this;
  }

  public JsonWriter value(long number) throws IOException {
    separate();
    write(number);
    return this;
  }

  public JsonWriter value(boolean truth) throws IOException {
    separate();
    out.write(Boolean.toString(truth));
    return this;
  }

  /**
   * Writes a number with at most three decimals and without an exponent. A number that is not
   * finite becomes {@code null}.
   */
  public JsonWriter value(double number) throws IOException {
    separate();
    if (!Double.isFinite(number)) {
      out.write("null");
    } else if (number == Math.rint(number) && Math.abs(number) < LARGEST_EXACT) {
      write((long) number);
    } else if (Math.abs(number) < LARGEST_EXACT / THOUSAND) {
      writeThousandths(Math.round(number * THOUSAND));
    } else {
      out.write(decimal(number));
    }
    return this;
  }

  /**
   * Writes nested maps, lists, strings, numbers and booleans. Numbers keep all their digits.
   * Numbers that are not finite become {@code null}.
   */
  public JsonWriter tree(@Nullable Object value) throws IOException {
    if (value == null) {
      return value(Double.NaN);
    }
    if (value instanceof Map<?, ?> map) {
      beginObject();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        name(entry.getKey().toString()).tree(entry.getValue());
      }
      return endObject();
    }
    if (value instanceof List<?> list) {
      beginArray();
      for (Object element : list) {
        tree(element);
      }
      return endArray();
    }
    return value instanceof Number || value instanceof Boolean
        ? plain(value)
        : value(value.toString());
  }

  private JsonWriter plain(Object value) throws IOException {
    separate();
    boolean known = !(value instanceof Double number) || Double.isFinite(number);
    out.write(known ? value.toString() : "null");
    return this;
  }

  /** Begins a new line. Line breaks keep large files readable. */
  public JsonWriter line() throws IOException {
    if (commaIsDue) {
      out.write(',');
      commaIsDue = false;
    }
    out.write('\n');
    return this;
  }

  private JsonWriter begin(char bracket) throws IOException {
    separate();
    out.write(bracket);
    commaIsDue = false;
    return this;
  }

  private JsonWriter end(char bracket) throws IOException {
    out.write(bracket);
    commaIsDue = true;
    return this;
  }

  private void separate() throws IOException {
    if (commaIsDue) {
      out.write(',');
    }
    commaIsDue = true;
  }

  /** Writes a number without creating an object. */
  private void write(long number) throws IOException {
    if (number == Long.MIN_VALUE) {
      out.write(Long.toString(number));
      return;
    }
    int start = digits.length;
    long left = Math.abs(number);
    do {
      digits[--start] = (char) ('0' + left % 10);
      left /= 10;
    } while (left > 0);
    if (number < 0) {
      digits[--start] = '-';
    }
    out.write(digits, start, digits.length - start);
  }

  private void writeThousandths(long number) throws IOException {
    if (number < 0) {
      out.write('-');
    }
    long positive = Math.abs(number);
    write(positive / THOUSAND);
    long fraction = positive % THOUSAND;
    if (fraction > 0) {
      out.write('.');
      for (int unit = THOUSAND / 10; fraction > 0; unit /= 10) {
        out.write((char) ('0' + fraction / unit));
        fraction %= unit;
      }
    }
  }

  private static String decimal(double number) {
    return BigDecimal.valueOf(number)
        .setScale(DECIMALS, RoundingMode.HALF_EVEN)
        .stripTrailingZeros()
        .toPlainString();
  }

  private void quote(String text) throws IOException {
    out.write('"');
    int written = 0;
    for (int i = 0; i < text.length(); i++) {
      if (isEscaped(text, i)) {
        out.write(text, written, i - written);
        out.write(escape(text.charAt(i)));
        written = i + 1;
      }
    }
    out.write(text, written, text.length() - written);
    out.write('"');
  }

  private boolean isEscaped(String text, int index) {
    char c = text.charAt(index);
    return c < ' '
        || c == '"'
        || c == '\\'
        || (c == '<' && insideHtml)
        || (Character.isSurrogate(c) && isAlone(text, index));
  }

  /** Returns whether a surrogate is not part of a pair. It then has no encoding in UTF-8. */
  private static boolean isAlone(String text, int index) {
    char c = text.charAt(index);
    if (Character.isHighSurrogate(c)) {
      return index + 1 == text.length() || !Character.isLowSurrogate(text.charAt(index + 1));
    }
    return index == 0 || !Character.isHighSurrogate(text.charAt(index - 1));
  }

  private static String escape(char c) {
    return switch (c) {
      case '"' -> "\\\"";
      case '\\' -> "\\\\";
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '\t' -> "\\t";
      default -> String.format("\\u%04x", (int) c);
    };
  }
}
