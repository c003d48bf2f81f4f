package io.mallometer.agent.payload.http;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A request and its answer. It is answered once, on the thread that got it or in a {@link Lane}.
 */
public final class Exchange {

  /** Makes an answer. */
  @FunctionalInterface
  public interface Work {
    /** Answers, or fails. */
    void run() throws IOException;
  }

  private static final int FAILED = 500;
  private static final int BUSY = 503;
  private static final int PIECE = 16 * 1024;
  private static final String NEWLINE = "\r\n";

  private final Connection connection;
  private final Request request;
  private final Map<String, String> headers = new LinkedHashMap<>();

  /** Whether nobody works at it; whoever makes it false answers. */
  private final AtomicBoolean waits = new AtomicBoolean();

  private volatile long waitsSince;
  private boolean begun;

  Exchange(Connection connection, Request request) {
    this.connection = connection;
    this.request = request;
  }

  /** What is asked. */
  public Request request() {
    return request;
  }

  /** Sets a header of the answer. */
  public void header(String name, String value) {
    headers.put(name, value);
  }

  /** Has a lane go on; if too much waits for it, or for too long, the client is told so. */
  public void in(Lane lane, Work work) {
    waitsSince = System.nanoTime();
    waits.set(true);
    if (!lane.takes(() -> run(work))) {
      refuseIfWaiting();
    }
  }

  private void run(Work work) {
    // Nobody is answered who has gone meanwhile.
    if (waits.compareAndSet(true, false) && !connection.isClosed()) {
      try {
        work.run();
      } catch (IOException e) {
        // The client went, or was given up.
        connection.abort();
      } catch (RuntimeException | Error e) {
        fail(e);
      }
    }
  }

  private void fail(Throwable e) {
    if (begun) {
      connection.abort();
    } else {
      plain(FAILED, "mallometer could not answer: " + e + "\n");
    }
  }

  /** Refuses what has waited for a lane since a moment or longer. */
  void refuseIfWaitingSince(long nanoTime) {
    if (waits.get() && waitsSince - nanoTime <= 0) {
      refuseIfWaiting();
    }
  }

  private void refuseIfWaiting() {
    if (waits.compareAndSet(true, false)) {
      header("Retry-After", "1");
      plain(BUSY, "mallometer is busy with other requests; try again in a second\n");
    }
  }

  /** Answers with a line of text. */
  public void plain(int status, String text) {
    header("Content-Type", "text/plain;charset=UTF-8");
    answer(status, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Answers, and waits for nothing. */
  public void answer(int status, byte[] body) {
    begun = true;
    header("Content-Length", Integer.toString(body.length));
    ByteBuffer content = ByteBuffer.wrap(request.headOnly() ? new byte[0] : body);
    connection.sends(ByteBuffer.wrap(head(status)), content);
    connection.sentAll(request.lasting());
  }

  /**
   * Begins an answer that is sent while it is made, only in a lane: its thread waits for the
   * client.
   *
   * @return to be closed when all is written, and not before: half an answer must not look like a
   *     whole one
   */
  public OutputStream begin(int status) {
    begun = true;
    boolean chunks = request.chunks();
    if (chunks) {
      header("Transfer-Encoding", "chunked");
    }
    connection.sends(ByteBuffer.wrap(head(status)));
    return request.headOnly() ? new Pieces(false, true) : new Pieces(chunks, false);
  }

  private byte[] head(int status) {
    header("Date", DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)));
    if (!request.lasting()) {
      header("Connection", "close");
    }
    StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(" ").append(NEWLINE);
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append(NEWLINE));
    return head.append(NEWLINE).toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Sends what is written in pieces, each when the client has taken most of those before. */
  private final class Pieces extends OutputStream {

    private final boolean chunks;
    private final boolean dropped;
    private ByteBuffer piece = ByteBuffer.allocate(PIECE);

    Pieces(boolean chunks, boolean dropped) {
      this.chunks = chunks;
      this.dropped = dropped;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      for (int written = 0; written < length; ) {
        int more = Math.min(length - written, piece.remaining());
        piece.put(bytes, offset + written, more);
        written += more;
        if (!piece.hasRemaining()) {
          send();
        }
      }
    }

    private void send() throws IOException {
      piece.flip();
      if (piece.hasRemaining() && !dropped) {
        connection.awaitRoom();
        if (chunks) {
          String length = Integer.toHexString(piece.remaining());
          connection.sends(ascii(length + NEWLINE), piece, ascii(NEWLINE));
        } else {
          connection.sends(piece);
        }
        piece = ByteBuffer.allocate(PIECE);
      } else {
        piece.clear();
      }
    }

    @Override
    public void close() throws IOException {
      send();
      if (chunks) {
        connection.sends(ascii("0" + NEWLINE + NEWLINE));
      }
      connection.sentAll(request.lasting());
    }

    private static ByteBuffer ascii(String text) {
      return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }
  }
}
