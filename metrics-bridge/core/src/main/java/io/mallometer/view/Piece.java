package io.mallometer.view;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/**
 * A part of answers, written once. Compressed it ends at a whole byte and refers to nothing before
 * it (RFC 1951), so that it can stand in any answer as it is: what many ask for in different
 * company is compressed once.
 */
final class Piece {

  private static final int SHORT = 64;
  private static final int BUFFER = 8192;

  private final byte[] bytes;
  private volatile byte @Nullable [] deflated;

  Piece(byte[] bytes) {
    this.bytes = bytes;
  }

  static Piece of(String text) {
    return new Piece(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Not to be changed. */
  byte[] bytes() {
    return bytes;
  }

  /** Blocks of which none is the last; not to be changed. */
  byte[] deflated() {
    byte @Nullable [] known = deflated;
    if (known == null) {
      known = bytes.length <= SHORT ? stored(bytes) : deflate(bytes);
      deflated = known;
    }
    return known;
  }

  /** As it is, after its length and the complement of that. */
  private static byte[] stored(byte[] bytes) {
    byte[] block = new byte[bytes.length + 5];
    block[1] = (byte) bytes.length;
    block[3] = (byte) ~bytes.length;
    block[4] = (byte) 0xFF;
    System.arraycopy(bytes, 0, block, 5, bytes.length);
    return block;
  }

  private static byte[] deflate(byte[] bytes) {
    Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
    try {
      deflater.setInput(bytes);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      byte[] buffer = new byte[BUFFER];
      int length;
      do {
        length = deflater.deflate(buffer, 0, buffer.length, Deflater.FULL_FLUSH);
        out.write(buffer, 0, length);
      } while (length == buffer.length);
      return out.toByteArray();
    } finally {
      deflater.end();
    }
  }
}
