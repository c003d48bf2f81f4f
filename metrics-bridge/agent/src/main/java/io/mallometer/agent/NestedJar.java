package io.mallometer.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * A jar in memory that inflates an entry only when it is read, because the start of an application
 * needs few of the classes. The JDK can read a jar only from a file, or from beginning to end.
 *
 * <p>Supports jars as Maven writes them: neither ZIP64 nor encryption. Field positions are from
 * PKWARE's APPNOTE, 4.3.7, 4.3.12 and 4.3.16.
 */
final class NestedJar {

  private static final int END_SIGNATURE = 0x06054b50;
  private static final int END_BYTES = 22;
  private static final int END_ENTRIES = 10;
  private static final int END_DIRECTORY = 16;

  private static final int ENTRY_BYTES = 46;
  private static final int ENTRY_METHOD = 10;
  private static final int ENTRY_PACKED = 20;
  private static final int ENTRY_SIZE = 24;
  private static final int ENTRY_NAME = 28;
  private static final int ENTRY_EXTRA = 30;
  private static final int ENTRY_COMMENT = 32;
  private static final int ENTRY_OFFSET = 42;

  private static final int LOCAL_BYTES = 30;
  private static final int LOCAL_NAME = 26;
  private static final int LOCAL_EXTRA = 28;

  private static final int STORED = 0;

  private final byte[] jar;

  /** The position of each entry in the central directory, by name. */
  private final Map<String, Integer> entries = new HashMap<>();

  NestedJar(byte[] bytes) throws IOException {
    jar = bytes;
    try {
      int end = bytes.length - END_BYTES;
      while (word(end) != END_SIGNATURE) {
        end--;
      }
      int position = word(end + END_DIRECTORY);
      for (int i = half(end + END_ENTRIES); i > 0; i--) {
        position = add(position);
      }
    } catch (IndexOutOfBoundsException e) {
      throw new IOException("the agent's jar is damaged", e);
    }
  }

  /** Adds the entry at a position and returns the position of the next entry. */
  private int add(int position) {
    int name = half(position + ENTRY_NAME);
    // The names of entries are ASCII.
    entries.put(
        new String(jar, position + ENTRY_BYTES, name, StandardCharsets.ISO_8859_1), position);
    return position
        + ENTRY_BYTES
        + name
        + half(position + ENTRY_EXTRA)
        + half(position + ENTRY_COMMENT);
  }

  /**
   * Returns the little-endian 16-bit number at a position, without a ByteBuffer, which would be
   * slow until the JVM has compiled its methods.
   */
  private int half(int position) {
    return jar[position] & 0xff | (jar[position + 1] & 0xff) << 8;
  }

  private int word(int position) {
    return half(position) | half(position + 2) << 16;
  }

  Set<String> packages() {
    Set<String> packages = new HashSet<>();
    for (String name : entries.keySet()) {
      int end = name.lastIndexOf('/');
      if (end > 0 && name.endsWith(".class")) {
        packages.add(name.substring(0, end).replace('/', '.'));
      }
    }
    return packages;
  }

  /** Returns the content of an entry; null if it is missing or damaged. */
  byte @Nullable [] read(String name) {
    @Nullable Integer entry = entries.get(name);
    return entry == null ? null : content(entry);
  }

  private byte @Nullable [] content(int entry) {
    int local = word(entry + ENTRY_OFFSET);
    int start = local + LOCAL_BYTES + half(local + LOCAL_NAME) + half(local + LOCAL_EXTRA);
    byte[] content = new byte[word(entry + ENTRY_SIZE)];
    if (half(entry + ENTRY_METHOD) == STORED) {
      System.arraycopy(jar, start, content, 0, content.length);
      return content;
    }
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(jar, start, word(entry + ENTRY_PACKED));
      return inflater.inflate(content) == content.length ? content : null;
    } catch (DataFormatException e) {
      return null;
    } finally {
      inflater.end();
    }
  }
}
