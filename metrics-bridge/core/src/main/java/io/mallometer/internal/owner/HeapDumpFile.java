package io.mallometer.internal.owner;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A heap dump in HPROF format (hprof_b_spec of the JDK's sources), read from front to back, once
 * for each link of a path: memory does not grow with the dump. Identifiers of 8 bytes, as 64-bit
 * JVMs write them.
 */
final class HeapDumpFile {

  private static final int BUFFER_BYTES = 1 << 20;
  private static final int OBJECT = 2;
  private static final int LONG = 11;
  private static final int[] SIZES = {0, 0, 8, 0, 1, 2, 4, 8, 1, 2, 4, 8};

  /** What is told of a dump while it is read. */
  interface Reader {
    /** A class refers to an object, or has a long, in a static field. */
    void staticField(long classId, String name, boolean isReference, long value);

    /** An object refers to another, or has a long, in a field. */
    void field(long object, long classId, String name, boolean isReference, long value);

    /** An array refers to an object, or has a long. */
    void element(long array, String className, boolean isReference, long value);

    /** Something of the JVM's refers to an object. */
    void root(long object, HeapGraph.Reference reference);
  }

  private record Field(String name, int type) {}

  private record Layout(long parent, List<Field> fields) {}

  private final Path path;
  private final Map<Long, String> strings = new HashMap<>();
  private final Map<Long, String> classNames = new HashMap<>();
  private final Map<Long, Layout> layouts = new HashMap<>();
  private final Map<Long, List<Field>> allFields = new HashMap<>();

  HeapDumpFile(Path path) {
    this.path = path;
  }

  /** The name of a class by its identifier; null if it is none. */
  @Nullable String className(long classId) {
    return classNames.get(classId);
  }

  /** Whether a class is another one, or below it. */
  boolean isA(long classId, String name) {
    for (long at = classId; at != 0; ) {
      if (name.equals(classNames.get(at))) {
        return true;
      }
      @Nullable Layout layout = layouts.get(at);
      at = layout == null ? 0 : layout.parent();
    }
    return false;
  }

  /** Reads all of it. */
  void read(Reader reader) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES))) {
      head(in);
      for (int tag = in.read(); tag >= 0; tag = in.read()) {
        in.readInt();
        long length = Integer.toUnsignedLong(in.readInt());
        switch (tag) {
          case 0x01 -> string(in, (int) length);
          case 0x02 -> loadedClass(in);
          case 0x0c, 0x1c -> segment(in, length, reader);
          default -> skip(in, length);
        }
      }
    } catch (EOFException e) {
      throw new IOException(path + " is cut off: the disk may have been full", e);
    }
  }

  private void head(DataInputStream in) throws IOException {
    StringBuilder format = new StringBuilder();
    for (int c = in.read(); c > 0 && format.length() < 20; c = in.read()) {
      format.append((char) c);
    }
    if (!format.toString().startsWith("JAVA PROFILE 1.0") || in.readInt() != 8) {
      throw new IOException(path + " is no heap dump of a 64-bit JVM in HPROF format");
    }
    in.readLong();
  }

  private void string(DataInputStream in, int length) throws IOException {
    long id = in.readLong();
    byte[] text = new byte[length - 8];
    in.readFully(text);
    strings.putIfAbsent(id, new String(text, StandardCharsets.UTF_8));
  }

  private void loadedClass(DataInputStream in) throws IOException {
    in.readInt();
    long id = in.readLong();
    in.readInt();
    classNames.putIfAbsent(id, javaName(string(in.readLong())));
  }

  private String string(long id) {
    return strings.getOrDefault(id, "?");
  }

  /** {@code [Ljava/lang/Object;} is {@code java.lang.Object[]}. */
  private static String javaName(String name) {
    int dimensions = 0;
    while (dimensions < name.length() && name.charAt(dimensions) == '[') {
      dimensions++;
    }
    String element = name.substring(dimensions);
    boolean isObject = dimensions > 0 && element.startsWith("L") && element.endsWith(";");
    element = isObject ? element.substring(1, element.length() - 1) : element;
    return element.replace('/', '.') + "[]".repeat(dimensions);
  }

  private static void skip(DataInputStream in, long bytes) throws IOException {
    for (long left = bytes; left > 0; ) {
      long skipped = in.skip(left);
      if (skipped <= 0 && in.read() < 0) {
        throw new EOFException();
      }
      left -= Math.max(1, skipped);
    }
  }

  // ---- A segment. Each returns how many bytes it has read.

  private void segment(DataInputStream in, long length, Reader reader) throws IOException {
    for (long read = 0; read < length; ) {
      int tag = in.readUnsignedByte();
      read +=
          1
              + switch (tag) {
                case 0x20 -> classDump(in, reader);
                case 0x21 -> instance(in, reader);
                case 0x22 -> objects(in, reader);
                case 0x23 -> primitives(in, reader);
                default -> root(in, tag, reader);
              };
    }
  }

  private static long root(DataInputStream in, int tag, Reader reader) throws IOException {
    long object = in.readLong();
    int more =
        switch (tag) {
          case 0x01, 0x02, 0x03, 0x08 -> 8;
          case 0x04, 0x06 -> 4;
          case 0x05, 0x07, 0xff -> 0;
          default -> throw new IOException("the heap dump has an unknown record " + tag);
        };
    skip(in, more);
    reader.root(
        object,
        switch (tag) {
          case 0x01 -> HeapGraph.Reference.JNI_GLOBAL;
          case 0x02, 0x04 -> HeapGraph.Reference.JNI_LOCAL;
          case 0x03 -> HeapGraph.Reference.LOCAL;
          case 0x07 -> HeapGraph.Reference.MONITOR;
          case 0x08 -> HeapGraph.Reference.THREAD;
          default -> HeapGraph.Reference.ROOT;
        });
    return 8L + more;
  }

  private long classDump(DataInputStream in, Reader reader) throws IOException {
    long id = in.readLong();
    in.readInt();
    long parent = in.readLong();
    skip(in, 5 * 8 + 4);
    long read = 8 + 4 + 8 + 5 * 8 + 4 + 3 * 2;
    for (int i = in.readUnsignedShort(); i > 0; i--) {
      in.readUnsignedShort();
      int size = SIZES[in.readUnsignedByte()];
      skip(in, size);
      read += 3 + size;
    }
    for (int i = in.readUnsignedShort(); i > 0; i--) {
      String name = string(in.readLong());
      int type = in.readUnsignedByte();
      if (type == OBJECT || type == LONG) {
        reader.staticField(id, name, type == OBJECT, in.readLong());
      } else {
        skip(in, SIZES[type]);
      }
      read += 9 + SIZES[type];
    }
    List<Field> fields = new ArrayList<>();
    for (int i = in.readUnsignedShort(); i > 0; i--) {
      fields.add(new Field(string(in.readLong()), in.readUnsignedByte()));
      read += 9;
    }
    layouts.putIfAbsent(id, new Layout(parent, fields));
    return read;
  }

  /** Those of superclasses come last. */
  private List<Field> fields(long classId) {
    List<Field> all = new ArrayList<>();
    for (long at = classId; at != 0; ) {
      @Nullable Layout layout = layouts.get(at);
      if (layout == null) {
        break;
      }
      all.addAll(layout.fields());
      at = layout.parent();
    }
    return all;
  }

  private long instance(DataInputStream in, Reader reader) throws IOException {
    long object = in.readLong();
    in.readInt();
    long classId = in.readLong();
    int length = in.readInt();
    int read = 0;
    for (Field field : allFields.computeIfAbsent(classId, this::fields)) {
      int size = SIZES[field.type()];
      if (read + size > length) {
        break;
      }
      if (field.type() == OBJECT || field.type() == LONG) {
        reader.field(object, classId, field.name(), field.type() == OBJECT, in.readLong());
      } else {
        skip(in, size);
      }
      read += size;
    }
    skip(in, length - read);
    return 8 + 4 + 8 + 4 + (long) length;
  }

  private long objects(DataInputStream in, Reader reader) throws IOException {
    long array = in.readLong();
    in.readInt();
    int count = in.readInt();
    String name = classNames.getOrDefault(in.readLong(), "Object[]");
    for (int i = 0; i < count; i++) {
      reader.element(array, name, true, in.readLong());
    }
    return 8 + 4 + 4 + 8 + 8L * count;
  }

  private static long primitives(DataInputStream in, Reader reader) throws IOException {
    long array = in.readLong();
    in.readInt();
    int count = in.readInt();
    int type = in.readUnsignedByte();
    if (type == LONG) {
      for (int i = 0; i < count; i++) {
        reader.element(array, "long[]", false, in.readLong());
      }
    } else {
      skip(in, (long) SIZES[type] * count);
    }
    return 8 + 4 + 4 + 1 + (long) SIZES[type] * count;
  }
}
