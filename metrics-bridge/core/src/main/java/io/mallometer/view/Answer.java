package io.mallometer.view;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/** What a request over HTTP is answered. */
public sealed interface Answer {

  /** How it went. */
  Outcome outcome();

  /** How a request went, with HTTP's number for it. */
  enum Outcome {
    /** As asked. */
    OK(200),
    /** A parameter makes no sense. */
    WRONG(400),
    /** Another site's page asks. */
    FORBIDDEN(403),
    /** There is nothing of that name. */
    UNKNOWN(404),
    /** Not so soon again. */
    TOO_EARLY(429),
    /** This process does not have it. */
    UNSUPPORTED(501);

    private final int status;

    Outcome(int status) {
      this.status = status;
    }

    /** HTTP's status. */
    public int status() {
      return status;
    }
  }

  /**
   * Something to be written as JSON.
   *
   * @param view what
   */
  record Told(Outcome outcome, View view) implements Answer {

    static Told ok(View view) {
      return new Told(Outcome.OK, view);
    }

    static Told refused(Outcome outcome, String reason) {
      return new Told(outcome, new RefusalView(reason));
    }
  }

  /**
   * A file in the format of another tool.
   *
   * @param contentType its media type
   * @param body writes it while it is made, and does not close the stream
   */
  record Exported(String contentType, Body body) implements Answer {

    @Override
    public Outcome outcome() {
      return Outcome.OK;
    }
  }

  /**
   * What is small and written already, so that a server may send it as it is, and zip it once for
   * all who ask.
   */
  final class Written implements Body {

    /** Of gzip (RFC 1952): deflated, of no time, by no system in particular. */
    private static final byte[] HEAD = {0x1F, (byte) 0x8B, 8, 0, 0, 0, 0, 0, 0, (byte) 0xFF};

    /** A last block without anything in it. */
    private static final byte[] LAST_BLOCK = {3, 0};

    private final List<Piece> pieces;

    /** Written one after the other. */
    Written(List<Piece> pieces) {
      this.pieces = List.copyOf(pieces);
    }

    /** Not to be changed. */
    public byte[] bytes() {
      return pieces.size() == 1
          ? pieces.get(0).bytes()
          : joined(pieces.stream().map(Piece::bytes).toList());
    }

    /** In the format of gzip; not to be changed. */
    public byte[] zipped() {
      CRC32 sum = new CRC32();
      int length = 0;
      List<byte[]> parts = new ArrayList<>(List.of(HEAD));
      for (Piece piece : pieces) {
        sum.update(piece.bytes());
        length += piece.bytes().length;
        parts.add(piece.deflated());
      }
      parts.add(LAST_BLOCK);
      parts.add(
          ByteBuffer.allocate(2 * Integer.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putInt((int) sum.getValue())
              .putInt(length)
              .array());
      return joined(parts);
    }

    private static byte[] joined(List<byte[]> parts) {
      byte[] all = new byte[parts.stream().mapToInt(part -> part.length).sum()];
      int at = 0;
      for (byte[] part : parts) {
        System.arraycopy(part, 0, all, at, part.length);
        at += part.length;
      }
      return all;
    }

    @Override
    public void writeTo(OutputStream out) throws IOException {
      for (Piece piece : pieces) {
        out.write(piece.bytes());
      }
    }
  }

  /** What writes a file. */
  @FunctionalInterface
  interface Body {
    /** Writes all of it. */
    void writeTo(OutputStream out) throws IOException;
  }
}
