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
 * A request and its answer. The request is answered once, on the network thread or in a {@link
 * WorkerPool}.
 */
public final class Exchange {

  /** Answers an exchange. */
  @FunctionalInterface
  public interface Work {
    /** Answers the exchange. */
    void run() throws IOException;
  }

  private static final int FAILED = 500;
  private static final int BUSY = 503;
  private static final int PIECE = 16 * 1024;
  private static final String NEWLINE = "\r\n";

  private final Connection connection;
  private final Request request;
  private final Map<String, String> headers = new LinkedHashMap<>();

  /**
   * Whether the exchange waits for a worker pool. The thread that sets this to false answers the
   * request.
   */
  private final AtomicBoolean waits = new AtomicBoolean();

  private volatile long waitsSince;
  private boolean begun;

  Exchange(Connection connection, Request request) {
    this.connection = connection;
    this.request = request;
  }

  /** Returns the request. */
  public Request request() {
    return request;
  }

  /** Sets a header of the answer. */
  public void header(String name, String value) {
    headers.put(name, value);
  }

  /**
   * Runs {@code work} in a worker pool. Answers 503 if the pool has too many waiting tasks, or if
   * the exchange waits there for too long.
   */
  public void in(WorkerPool lane, Work work) {
    waitsSince = System.nanoTime();
    waits.set(true);
    if (!lane.takes(() -> run(work))) {
      refuseIfWaiting();
    }
  }

  private void run(Work work) {
    // A connection that was closed meanwhile gets no answer.
    if (waits.compareAndSet(true, false) && !connection.isClosed()) {
      try {
        work.run();
      } catch (IOException e) {
        // The client has gone or was too slow.
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

  /** Answers without waiting for the client. */
  public void answer(int status, byte[] body) {
    begun = true;
    header("Content-Length", Integer.toString(body.length));
    ByteBuffer content = ByteBuffer.wrap(request.headOnly() ? new byte[0] : body);
    connection.sends(ByteBuffer.wrap(head(status)), content);
    connection.sentAll(request.lasting());
  }

  /**
   * Begins an answer that is sent while it is written. Must be called on a thread of a worker pool,
   * because writing to the stream waits for the client.
   *
   * @return the stream for the content; close it only after all is written, so that a partial
   *     answer does not look complete
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

  /**
   * Sends content in pieces of 16 KiB. Before each piece, waits until at most 64 KiB of the answer
   * are unsent.
   */
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
