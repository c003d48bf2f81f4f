package io.mallometer.internal.text;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes a message in the wire format of protocol buffers. Supports the kinds of fields in a pprof
 * profile.
 */
public final class ProtobufMessage {

  private static final int VARINT = 0;
  private static final int LENGTH_DELIMITED = 2;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  public ProtobufMessage() {}

  public ProtobufMessage number(int field, long value) {
    if (value != 0) {
      tag(field, VARINT);
      varint(value);
    }
    return this;
  }

  public ProtobufMessage numbers(int field, long... values) {
    ProtobufMessage packed = new ProtobufMessage();
    for (long value : values) {
      packed.varint(value);
    }
    return message(field, packed);
  }

  /** Adds a text. Even an empty text is written, because it may be an element of a list. */
  public ProtobufMessage text(int field, String text) {
    return bytes(field, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Adds a field of bytes, even an empty one. */
  public ProtobufMessage bytes(int field, byte[] value) {
    tag(field, LENGTH_DELIMITED);
    varint(value.length);
    bytes.writeBytes(value);
    return this;
  }

  public ProtobufMessage message(int field, ProtobufMessage message) {
    tag(field, LENGTH_DELIMITED);
    varint(message.bytes.size());
    bytes.writeBytes(message.bytes.toByteArray());
    return this;
  }

  public void moveTo(OutputStream out) throws IOException {
    bytes.writeTo(out);
    bytes.reset();
  }

  private void tag(int field, int wireType) {
    varint((long) field << 3 | wireType);
  }

  private void varint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes.write((int) (rest & 0x7f | 0x80));
      rest >>>= 7;
    }
    bytes.write((int) rest);
  }
}
