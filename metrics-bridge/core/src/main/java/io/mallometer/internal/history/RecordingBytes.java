package io.mallometer.internal.history;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;

/** Reads what several structs of a recording contain: magic bytes, checksums and texts. */
final class RecordingBytes {

  static final byte[] MAGIC = (RecordingFormat.MAGIC + "\0").getBytes(StandardCharsets.US_ASCII);

  private RecordingBytes() {}

  static int checksum(ByteBuffer bytes, int from, int to) {
    CRC32 checksum = new CRC32();
    checksum.update(bytes.array(), bytes.arrayOffset() + from, to - from);
    return (int) checksum.getValue();
  }

  static boolean hasMagic(ByteBuffer file) {
    return file.capacity() >= MAGIC.length
        && Arrays.equals(
            file.array(),
            file.arrayOffset(),
            file.arrayOffset() + MAGIC.length,
            MAGIC,
            0,
            MAGIC.length);
  }

  static String text(ByteBuffer bytes, int offset, int length) {
    int end = 0;
    while (end < length && bytes.get(offset + end) != 0) {
      end++;
    }
    return new String(bytes.array(), bytes.arrayOffset() + offset, end, StandardCharsets.UTF_8);
  }
}
