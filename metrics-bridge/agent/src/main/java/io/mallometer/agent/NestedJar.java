package io.mallometer.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * A jar in memory, of which each entry is inflated when it is wanted: an application waits for the
 * few that its start needs. The JDK reads jars from files only, or from the beginning to the end.
 *
 * <p>Only what Maven writes is understood: neither ZIP64 nor encryption. Field positions are from
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

  private record Entry(int method, int packed, int size, int offset) {}

  private final ByteBuffer jar;
  private final Map<String, Entry> entries = new HashMap<>();

  /**
   * Reads the directory of a jar.
   *
   * @throws IOException if it is none
   */
  NestedJar(byte[] bytes) throws IOException {
    jar = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    try {
      int end = bytes.length - END_BYTES;
      while (jar.getInt(end) != END_SIGNATURE) {
        end--;
      }
      int position = jar.getInt(end + END_DIRECTORY);
      for (int i = unsigned(end + END_ENTRIES); i > 0; i--) {
        position = add(position);
      }
    } catch (IndexOutOfBoundsException e) {
      throw new IOException("the agent's jar is damaged", e);
    }
  }

  /** Returns where the next one begins. */
  private int add(int position) {
    int name = unsigned(position + ENTRY_NAME);
    entries.put(
        new String(jar.array(), position + ENTRY_BYTES, name, StandardCharsets.UTF_8),
        new Entry(
            unsigned(position + ENTRY_METHOD),
            jar.getInt(position + ENTRY_PACKED),
            jar.getInt(position + ENTRY_SIZE),
            jar.getInt(position + ENTRY_OFFSET)));
    return position
        + ENTRY_BYTES
        + name
        + unsigned(position + ENTRY_EXTRA)
        + unsigned(position + ENTRY_COMMENT);
  }

  private int unsigned(int position) {
    return Short.toUnsignedInt(jar.getShort(position));
  }

  /** The packages that have classes. */
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

  /** What an entry holds; null if there is none, or it is damaged. */
  byte @Nullable [] read(String name) {
    @Nullable Entry entry = entries.get(name);
    return entry == null ? null : content(entry);
  }

  private byte @Nullable [] content(Entry entry) {
    int start =
        entry.offset
            + LOCAL_BYTES
            + unsigned(entry.offset + LOCAL_NAME)
            + unsigned(entry.offset + LOCAL_EXTRA);
    byte[] content = new byte[entry.size];
    if (entry.method == STORED) {
      System.arraycopy(jar.array(), start, content, 0, entry.size);
      return content;
    }
    Inflater inflater = new Inflater(true);
    try {
      inflater.setInput(jar.array(), start, entry.packed);
      return inflater.inflate(content) == entry.size ? content : null;
    } catch (DataFormatException e) {
      return null;
    } finally {
      inflater.end();
    }
  }
}
