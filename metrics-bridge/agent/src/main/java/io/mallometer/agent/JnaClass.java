package io.mallometer.agent;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Changes JNA's class files when they are loaded, so that JNA does not affect the whole process.
 * The original files start {@code java.util.logging}, which takes 20 ms and which the application
 * may have to configure first. They also set a system property that an application's own JNA reads.
 * This class replaces the names of the logger's class and of the property in a file's constant pool
 * (JVMS 4.4).
 */
final class JnaClass {

  private static final String PACKAGE = "com.sun.jna.";

  private static final String LOGGER = "java/util/logging/Logger";
  private static final String OUR_LOGGER = "io/mallometer/agent/payload/JnaLog";
  private static final String SEARCH_PATH = "jna.platform.library.path";
  private static final String OUR_SEARCH_PATH = "mallometer.jna.searchpath";

  /** The number of bytes in a class file before the number of constants. */
  private static final int HEAD_BYTES = 8;

  private static final int TEXT = 1;

  private JnaClass() {}

  static byte[] of(String name, byte[] file) {
    if (!name.startsWith(PACKAGE)) {
      return file;
    }
    try {
      return renamed(file);
    } catch (IOException e) {
      return file;
    }
  }

  private static byte[] renamed(byte[] file) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(file.length + 64);
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(in.readNBytes(HEAD_BYTES));
    int count = in.readUnsignedShort();
    out.writeShort(count);
    for (int i = 1; i < count; i++) {
      int tag = in.readUnsignedByte();
      out.writeByte(tag);
      if (tag == TEXT) {
        out.writeUTF(renamed(in.readUTF()));
      } else {
        out.write(in.readNBytes(size(tag)));
      }
      // A long or a double takes two indexes.
      i += tag == 5 || tag == 6 ? 1 : 0;
    }
    out.write(in.readAllBytes());
    return bytes.toByteArray();
  }

  private static String renamed(String text) {
    return text.equals(SEARCH_PATH) ? OUR_SEARCH_PATH : text.replace(LOGGER, OUR_LOGGER);
  }

  /** Returns the number of bytes that follow a constant's tag (JVMS, table 4.4-A). */
  private static int size(int tag) throws IOException {
    return switch (tag) {
      case 7, 8, 16, 19, 20 -> 2;
      case 15 -> 3;
      case 3, 4, 9, 10, 11, 12, 17, 18 -> 4;
      case 5, 6 -> 8;
      default -> throw new IOException("no constant has the tag " + tag);
    };
  }
}
