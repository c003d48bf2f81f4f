package io.mallometer.internal.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads {@code /proc/<pid>/smaps}, as described in proc(5).
 *
 * <p>The text of a process with 65,000 mappings has 60 MB. So it is read as a stream, and only six
 * lines of a block are parsed: the header, {@code Rss}, {@code Pss}, {@code Anonymous}, {@code
 * AnonHugePages} and {@code VmFlags}. An invalid line is skipped.
 *
 * <p>{@code PAGEMAP_SCAN} would find the resident pages in 1 ms instead of 8 ms for 250 MB, but
 * reports neither {@code VmFlags}, by which reservations are recognised, nor copied and huge pages.
 *
 * <p>The JVM interprets this code during the first readings, so the code looks at few bytes.
 */
final class Smaps {

  private static final byte[] RSS = "Rss:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] PSS = "Pss:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] ANONYMOUS = "Anonymous:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] HUGE = "AnonHugePages:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FLAGS = "VmFlags:".getBytes(StandardCharsets.US_ASCII);

  /**
   * The length of most lines: the kernel pads names to 16 bytes and numbers to 8, and {@code " kB"}
   * follows. The end of other lines must be searched for.
   */
  private static final int PADDED_LINE = 16 + 8 + 3;

  /**
   * The most bytes of a line that are read; the rest is ignored. Names that {@link MappingKinds}
   * recognises are shorter.
   */
  private static final int LONGEST_LINE = 4096;

  /**
   * The bytes that one read requests. For a longer read the JDK would allocate a buffer, although
   * the kernel returns at most 4 KiB at a time.
   */
  private static final int READ_AT_ONCE = 8192;

  /** Stands for text that is no address; no mapping begins or ends at -1. */
  private static final long NO_NUMBER = -1;

  private final InputStream in;

  /** Whether a page of ZGC's heap counts once, however often the heap is mapped. */
  private final boolean once;

  /** The current line and the bytes that were read after it, with space for another read. */
  private final byte[] text = new byte[2 * READ_AT_ONCE];

  private int filled;

  private int line;

  private int end;

  private int next;

  private int at;

  private final List<Mapping> mappings = new ArrayList<>();

  /** The name of the latest mapping. Neighbouring mappings of one file share this string. */
  private String lastName = "";

  private byte[] lastNameBytes = new byte[0];

  private long start = -1;
  private long endOfMapping;
  private Access access = Access.NONE;
  private boolean anonymous;
  private String name = "";
  private long residentBytes;
  private long proportionalBytes;
  private long anonymousBytes;
  private long hugeBytes;
  private boolean noReserve;

  private Smaps(InputStream in, boolean once) {
    this.in = in;
    this.once = once;
  }

  /** Returns all mappings, ascending by address. */
  static List<Mapping> parse(InputStream in) throws IOException {
    return new Smaps(in, false).parse();
  }

  /**
   * Returns all mappings, with each page of the Java heap counted once. ZGC of JDK 17 maps its heap
   * three times, so the resident bytes of such a mapping are its share, {@code Pss}.
   */
  static List<Mapping> parseOnce(InputStream in) throws IOException {
    return new Smaps(in, true).parse();
  }

  private List<Mapping> parse() throws IOException {
    while (nextLine()) {
      if (line < end) {
        read(text[line]);
      }
    }
    finishBlock();
    return mappings;
  }

  private void read(byte first) {
    if (first == 'R') {
      if (startsWith(RSS)) {
        residentBytes = kilobytes(line + RSS.length);
      }
    } else if (first == 'P') {
      if (startsWith(PSS)) {
        proportionalBytes = kilobytes(line + PSS.length);
      }
    } else if (first == 'A') {
      if (startsWith(ANONYMOUS)) {
        anonymousBytes = kilobytes(line + ANONYMOUS.length);
      } else if (startsWith(HUGE)) {
        hugeBytes = kilobytes(line + HUGE.length);
      }
    } else if (first == 'V') {
      if (startsWith(FLAGS)) {
        noReserve = flag('n', 'r');
      }
    } else if (digit(first) >= 0) {
      header();
    }
  }

  /** Reads a header: {@code 7f00-7f10 rw-p 00000000 08:01 1234 /path}. */
  private void header() {
    at = line;
    long from = hexadecimal('-');
    long to = from == NO_NUMBER ? NO_NUMBER : hexadecimal(' ');
    if (to == NO_NUMBER || at + 4 > end) {
      return;
    }
    finishBlock();
    // Addresses of the kernel's half, such as [vsyscall], are negative.
    if (from < 0 || to <= from) {
      return;
    }
    start = from;
    endOfMapping = to;
    access = Access.of(text[at], text[at + 1], text[at + 2]);
    byte sharing = text[at + 3];
    skipFields(4);
    name = at < end ? restOfLine() : "";
    anonymous = Mapping.isAnonymous(sharing, name);
    residentBytes = 0;
    proportionalBytes = -1;
    anonymousBytes = 0;
    hugeBytes = -1;
    noReserve = false;
  }

  private void finishBlock() {
    if (start >= 0) {
      if (once && proportionalBytes >= 0 && name.contains(MappingKinds.JAVA_HEAP)) {
        residentBytes = proportionalBytes;
      }
      long copied = name.startsWith("/") ? Math.min(anonymousBytes, residentBytes) : 0;
      mappings.add(
          new Mapping(
              start,
              endOfMapping,
              access,
              anonymous,
              name,
              residentBytes,
              noReserve,
              copied,
              hugeBytes));
      start = -1;
    }
  }

  private String restOfLine() {
    if (!Arrays.equals(text, at, end, lastNameBytes, 0, lastNameBytes.length)) {
      lastNameBytes = Arrays.copyOfRange(text, at, end);
      lastName = new String(lastNameBytes, StandardCharsets.UTF_8);
    }
    return lastName;
  }

  private void skipFields(int fields) {
    int i = at;
    for (int field = 0; field < fields; field++) {
      while (i < end && text[i] != ' ') {
        i++;
      }
      while (i < end && text[i] == ' ') {
        i++;
      }
    }
    at = i;
  }

  private long kilobytes(int from) {
    long number = 0;
    for (int i = from; i < end && number < Long.MAX_VALUE / 20_480; i++) {
      if (text[i] >= '0' && text[i] <= '9') {
        number = 10 * number + text[i] - '0';
      } else if (text[i] != ' ') {
        break;
      }
    }
    return number * 1024;
  }

  /** Reads a number of up to 64 bits that ends with a delimiter, and moves past the delimiter. */
  private long hexadecimal(char delimiter) {
    long number = 0;
    int i = at;
    for (; i < end; i++) {
      int digit = digit(text[i]);
      if (digit < 0) {
        break;
      }
      number = number << 4 | digit;
    }
    int digits = i - at;
    at = i + 1;
    return digits > 0 && digits <= 16 && i < end && text[i] == delimiter ? number : NO_NUMBER;
  }

  private static int digit(byte letter) {
    if (letter <= '9') {
      return letter - '0';
    }
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }

  private boolean flag(char first, char second) {
    for (int i = line + FLAGS.length; i + 2 < end; i += 3) {
      if (text[i + 1] == first && text[i + 2] == second) {
        return true;
      }
    }
    return false;
  }

  private boolean startsWith(byte[] prefix) {
    if (end - line < prefix.length) {
      return false;
    }
    for (int i = 0; i < prefix.length; i++) {
      if (text[line + i] != prefix[i]) {
        return false;
      }
    }
    return true;
  }

  private boolean nextLine() throws IOException {
    line = next;
    int padded = line + PADDED_LINE;
    if (padded < filled && text[padded] == '\n' && text[padded - 1] == 'B') {
      end = padded;
      next = padded + 1;
      return true;
    }
    return searchEnd();
  }

  private boolean searchEnd() throws IOException {
    int i = line;
    while (true) {
      while (i < filled && text[i] != '\n') {
        i++;
      }
      if (i < filled) {
        end = Math.min(i, line + LONGEST_LINE);
        next = i + 1;
        return true;
      }
      i = moveToFront();
      int more = in.read(text, i, Math.min(READ_AT_ONCE, text.length - i));
      if (more <= 0) {
        end = Math.min(i, LONGEST_LINE);
        next = i;
        return i > 0;
      }
      filled += more;
    }
  }

  /**
   * Moves the line to the front of the buffer, cut to {@link #LONGEST_LINE}, and returns the index
   * behind it.
   */
  private int moveToFront() {
    int kept = Math.min(filled - line, LONGEST_LINE);
    System.arraycopy(text, line, text, 0, kept);
    line = 0;
    filled = kept;
    return kept;
  }
}
