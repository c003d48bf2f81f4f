package io.mallometer.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads {@code /proc/<pid>/smaps}, as described in proc(5).
 *
 * <p>A process with 65,000 mappings has 60 MB of it, so the text is read as a stream and only four
 * lines of a block become anything: the header, {@code Rss}, {@code Anonymous} and {@code VmFlags}.
 * A line that makes no sense is skipped; a block that is cut off counts with what it had.
 */
final class Smaps {

  private static final byte[] RSS = "Rss:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] ANONYMOUS = "Anonymous:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FLAGS = "VmFlags:".getBytes(StandardCharsets.US_ASCII);

  /** Longer lines end here: no path that tells one kind of memory from another is as long. */
  private static final int LONGEST_LINE = 4096;

  /** No mapping begins or ends there. */
  private static final long NO_NUMBER = -1;

  private final InputStream in;
  private final byte[] buffer = new byte[64 * 1024];
  private int position;
  private int filled;
  private final byte[] line = new byte[LONGEST_LINE];
  private int length;

  private final List<Mapping> mappings = new ArrayList<>();

  /** Mappings share few names and permissions; one string each is enough. */
  private final Map<String, String> strings = new HashMap<>();

  private long start = -1;
  private long end;
  private String permissions = "";
  private String name = "";
  private long residentBytes;
  private long anonymousBytes;
  private boolean noReserve;

  private Smaps(InputStream in) {
    this.in = in;
  }

  /**
   * All mappings, in the order of the text: ascending addresses.
   *
   * @throws IOException if the stream fails
   */
  static List<Mapping> parse(InputStream in) throws IOException {
    return new Smaps(in).parse();
  }

  private List<Mapping> parse() throws IOException {
    while (nextLine()) {
      if (startsWith(RSS)) {
        residentBytes = kilobytes(RSS.length);
      } else if (startsWith(ANONYMOUS)) {
        anonymousBytes = kilobytes(ANONYMOUS.length);
      } else if (startsWith(FLAGS)) {
        noReserve = text(FLAGS.length, length).contains(" nr");
      } else if (length > 0 && Character.digit(line[0], 16) >= 0) {
        header();
      }
    }
    finishBlock();
    return mappings;
  }

  /** {@code 7f00-7f10 rw-p 00000000 08:01 1234 /path}. */
  private void header() {
    int dash = indexOf((byte) '-', 0);
    int space = indexOf((byte) ' ', 0);
    long from = hexadecimal(0, dash);
    long to = dash < space ? hexadecimal(dash + 1, space) : NO_NUMBER;
    // Names of fields may begin like a number ("AnonHugePages"), but none has a dash.
    if (from == NO_NUMBER || to == NO_NUMBER || space + 5 > length) {
      return;
    }
    finishBlock();
    // The kernel's half of the addresses is negative here; it holds [vsyscall], which is not ours.
    if (from < 0 || to <= from) {
      return;
    }
    start = from;
    end = to;
    permissions = shared(text(space + 1, space + 5));
    name = shared(text(afterFields(4, space + 1), length));
    residentBytes = 0;
    anonymousBytes = 0;
    noReserve = false;
  }

  private void finishBlock() {
    if (start >= 0) {
      long copied = name.startsWith("/") ? Math.min(anonymousBytes, residentBytes) : 0;
      mappings.add(new Mapping(start, end, permissions, name, residentBytes, noReserve, copied));
      start = -1;
    }
  }

  private String shared(String string) {
    String known = strings.putIfAbsent(string, string);
    return known == null ? string : known;
  }

  /** Where the text after a number of fields begins. */
  private int afterFields(int fields, int from) {
    int at = from;
    for (int i = 0; i < fields; i++) {
      while (at < length && line[at] != ' ') {
        at++;
      }
      while (at < length && line[at] == ' ') {
        at++;
      }
    }
    return at;
  }

  /** The number in a line such as {@code Rss: 12 kB}; 0 if there is none. */
  private long kilobytes(int from) {
    long number = 0;
    for (int i = from; i < length && number < Long.MAX_VALUE / 20_480; i++) {
      if (line[i] >= '0' && line[i] <= '9') {
        number = 10 * number + line[i] - '0';
      } else if (line[i] != ' ') {
        break;
      }
    }
    return number * 1024;
  }

  /** A number of up to 64 bits, or {@link #NO_NUMBER}. */
  private long hexadecimal(int from, int to) {
    if (to <= from || to - from > 16) {
      return NO_NUMBER;
    }
    long number = 0;
    for (int i = from; i < to; i++) {
      int digit = Character.digit(line[i], 16);
      if (digit < 0) {
        return NO_NUMBER;
      }
      number = number << 4 | digit;
    }
    return number;
  }

  private int indexOf(byte wanted, int from) {
    for (int i = from; i < length; i++) {
      if (line[i] == wanted) {
        return i;
      }
    }
    return length;
  }

  private boolean startsWith(byte[] prefix) {
    return length >= prefix.length
        && Arrays.equals(line, 0, prefix.length, prefix, 0, prefix.length);
  }

  private String text(int from, int to) {
    return from < to ? new String(line, from, to - from, StandardCharsets.UTF_8) : "";
  }

  /** Reads a line without its end. Returns false at the end of the text. */
  private boolean nextLine() throws IOException {
    length = 0;
    boolean any = false;
    while (true) {
      if (position == filled) {
        filled = in.read(buffer);
        position = 0;
        if (filled <= 0) {
          filled = 0;
          return any;
        }
      }
      any = true;
      byte next = buffer[position++];
      if (next == '\n') {
        return true;
      }
      if (length < LONGEST_LINE) {
        line[length++] = next;
      }
    }
  }
}
