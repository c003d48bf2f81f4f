package io.mallometer.agent.payload.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection. Each request is answered before the next is read. Only the network thread
 * reads and writes; threads of worker pools add pieces of an answer.
 */
final class Connection {

  private enum Phase {
    /** Receives a request, or the TLS handshake. */
    REQUEST,
    /** Waits for the first byte of the next request. */
    IDLE,
    /** Answers a request, and does not read the next. */
    ANSWER,
    /**
     * Has sent the last answer. Still reads and drops input, because closing a socket with unread
     * input may reset the connection, and the client may lose the answer.
     */
    END
  }

  private static final byte[] END_OF_HEAD = {'\r', '\n', '\r', '\n'};
  private static final int FIRST_HEAD = 512;
  private static final int LARGEST_HEAD = 16 * 1024;
  private static final int NOT_UNDERSTOOD = 400;
  private static final int HEAD_TOO_LARGE = 431;

  /** The number of unsent bytes above which the answering thread waits for the client. */
  private static final int ROOM = 64 * 1024;

  private static final long END_NANOS = 1_000_000_000;

  private final HttpListener listener;
  private final SelectionKey key;
  private final Transport wire;
  private final long patience;

  private Phase phase = Phase.REQUEST;
  private long since = System.nanoTime();

  /** The time in nanoseconds for which the client may still delay the answer. */
  private long credit;

  private byte[] head = new byte[FIRST_HEAD];
  private int headLength;

  /** The index up to which the received bytes were searched for the end of the head. */
  private int looked;

  private @Nullable Exchange exchange;

  /**
   * The pieces of the answer that are not sent yet. The queue's monitor guards the queue and the
   * fields below.
   */
  private final Queue<ByteBuffer> pending = new ArrayDeque<>();

  private long pendingBytes;
  private boolean all;
  private boolean lasting;
  private boolean closed;

  Connection(HttpListener listener, SelectionKey key, Transport wire) {
    this.listener = listener;
    this.key = key;
    this.wire = wire;
    this.patience = listener.limits().patience().toNanos();
  }

  /** Reads and writes as much as possible without waiting. */
  void proceed() throws IOException {
    if (isClosed()) {
      return;
    }
    if (wire.flush()) {
      send();
    }
    receive();
    if (!isClosed()) {
      key.interestOps(wire.interest(interest()));
    }
  }

  private int interest() {
    if (phase != Phase.ANSWER) {
      return SelectionKey.OP_READ;
    }
    return waitsForClient() ? SelectionKey.OP_WRITE : 0;
  }

  private void receive() throws IOException {
    int count = 1;
    while (phase != Phase.ANSWER && count > 0) {
      ByteBuffer bytes = listener.buffer().clear();
      count = wire.read(bytes);
      if (count < 0) {
        close();
      } else if (count > 0 && phase == Phase.END) {
        return;
      } else if (count > 0) {
        take(bytes.flip());
      }
    }
  }

  private void take(ByteBuffer bytes) {
    if (phase == Phase.IDLE) {
      enter(Phase.REQUEST);
    }
    int length = headLength + bytes.remaining();
    if (length > head.length) {
      head = Arrays.copyOf(head, Math.max(length, 2 * head.length));
    }
    bytes.get(head, headLength, bytes.remaining());
    headLength = length;
    next();
  }

  private void enter(Phase next) {
    phase = next;
    since = System.nanoTime();
  }

  private void next() {
    dropEmptyLines();
    int end = endOfHead();
    if (end >= 0) {
      String text = new String(head, 0, end, StandardCharsets.ISO_8859_1);
      drop(end + END_OF_HEAD.length);
      understand(text);
    } else if (headLength > LARGEST_HEAD) {
      refuse(
          HEAD_TOO_LARGE, "the headers of the request have more than " + LARGEST_HEAD + " bytes");
    }
  }

  private int endOfHead() {
    for (; looked + END_OF_HEAD.length <= headLength; looked++) {
      if (Arrays.equals(
          head, looked, looked + END_OF_HEAD.length, END_OF_HEAD, 0, END_OF_HEAD.length)) {
        return looked;
      }
    }
    return -1;
  }

  /**
   * Drops empty lines before a request, because some clients send an extra empty line after a
   * request.
   */
  private void dropEmptyLines() {
    int length = 0;
    while (length + 1 < headLength && head[length] == '\r' && head[length + 1] == '\n') {
      length += 2;
    }
    if (length > 0) {
      drop(length);
    }
  }

  private void drop(int bytes) {
    headLength -= bytes;
    head = Arrays.copyOfRange(head, bytes, bytes + Math.max(headLength, FIRST_HEAD));
    looked = 0;
  }

  private void understand(String text) {
    Request request;
    try {
      request = Request.parse(text);
    } catch (IllegalArgumentException e) {
      refuse(NOT_UNDERSTOOD, String.valueOf(e.getMessage()));
      return;
    }
    listener.handler().accept(begin(request));
  }

  private void refuse(int status, String reason) {
    begin(new Request("", "", null, Map.of(), false, false)).plain(status, reason + "\n");
  }

  private Exchange begin(Request request) {
    credit = patience;
    enter(Phase.ANSWER);
    Exchange begun = new Exchange(this, request);
    exchange = begun;
    return begun;
  }

  private void send() throws IOException {
    boolean sentAll;
    synchronized (pending) {
      long before = pendingBytes;
      @Nullable ByteBuffer next = pending.peek();
      while (next != null) {
        int remaining = next.remaining();
        wire.write(next);
        pendingBytes -= remaining - next.remaining();
        if (next.hasRemaining()) {
          break;
        }
        pending.remove();
        next = pending.peek();
      }
      pending.notifyAll();
      earn(before - pendingBytes);
      sentAll = all && pending.isEmpty() && wire.flush();
      all &= !sentAll;
    }
    if (sentAll) {
      answered();
    }
  }

  /**
   * Extends the client's time limit by the time that {@code bytes} take at the lowest allowed rate.
   * The remaining time never exceeds {@code patience}.
   */
  private void earn(long bytes) {
    long nanos = bytes * 1_000_000_000L / listener.limits().bytesPerSecond();
    credit = Math.min(patience, credit + nanos);
  }

  private void answered() throws IOException {
    exchange = null;
    if (!lasting) {
      enter(Phase.END);
      wire.finish();
    } else if (headLength == 0) {
      enter(Phase.IDLE);
    } else {
      enter(Phase.REQUEST);
      next();
    }
  }

  void sends(ByteBuffer... pieces) {
    synchronized (pending) {
      for (int i = 0; i < pieces.length && !closed; i++) {
        pending.add(pieces[i]);
        pendingBytes += pieces[i].remaining();
      }
    }
    listener.proceed(this);
  }

  /** Ends the answer. Another request may follow if {@code kept} is true. */
  void sentAll(boolean kept) {
    synchronized (pending) {
      all = true;
      lasting = kept;
    }
    listener.proceed(this);
  }

  /**
   * Waits until at most 64 KiB of the answer are unsent.
   *
   * @throws IOException if the connection was closed
   */
  void awaitRoom() throws IOException {
    synchronized (pending) {
      while (pendingBytes > ROOM && !closed) {
        try {
          pending.wait();
        } catch (InterruptedException e) {
          throw new IOException("interrupted", e);
        }
      }
      if (closed) {
        throw new IOException("the connection is closed");
      }
    }
  }

  /** Closes the connection; callable from any thread. */
  void abort() {
    listener.close(this);
  }

  private boolean waitsForClient() {
    synchronized (pending) {
      return phase != Phase.ANSWER || pendingBytes > 0 || all;
    }
  }

  /**
   * Returns how many nanoseconds the client has kept the server waiting; -1 if the server does not
   * wait for the client.
   */
  long waited(long now) {
    if (!waitsForClient()) {
      return -1;
    }
    return phase == Phase.ANSWER ? patience - credit : now - since;
  }

  /**
   * Closes the connection if its client has taken too long. Refuses a request that has waited too
   * long for a thread.
   *
   * @param passed the time since the previous call, in nanoseconds
   */
  void check(long now, long passed) {
    if (phase == Phase.ANSWER) {
      if (exchange != null) {
        exchange.refuseIfWaitingSince(now - patience);
      }
      credit -= waitsForClient() ? passed : 0;
      if (credit < 0) {
        close();
      }
    } else if (now - since > longest()) {
      close();
    }
  }

  private long longest() {
    return switch (phase) {
      case IDLE -> listener.limits().idle().toNanos();
      case END -> Math.min(END_NANOS, patience);
      default -> patience;
    };
  }

  boolean isIdle() {
    return phase == Phase.IDLE;
  }

  boolean isClosed() {
    synchronized (pending) {
      return closed;
    }
  }

  /** Closes the connection. Only the network thread calls this. */
  void close() {
    synchronized (pending) {
      closed = true;
      pending.clear();
      pendingBytes = 0;
      pending.notifyAll();
    }
    listener.forget(this);
    try {
      key.channel().close();
    } catch (IOException e) {
      // A failed close has no remedy.
      return;
    }
  }
}
