package io.mallometer.agent.payload.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.function.BiConsumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.Status;

/**
 * Encrypts and decrypts with the JDK's {@link SSLEngine}. Reading and writing also continue the TLS
 * handshake. A worker pool runs the handshake's computations, which take milliseconds.
 *
 * <p>All connections share the buffers. Between calls, a connection keeps only incomplete TLS
 * records and the bytes that the channel did not accept.
 */
final class TlsWire implements Transport {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  record Buffers(ByteBuffer received, ByteBuffer unsent) {

    /**
     * Creates the buffers for TLS records of this size. The buffer {@code received} has room for an
     * incomplete record and one more record.
     */
    static Buffers forRecordsOf(int bytes) {
      return new Buffers(ByteBuffer.allocate(2 * bytes), ByteBuffer.allocate(bytes));
    }
  }

  private final SocketChannel channel;
  private final SSLEngine engine;
  private final Buffers buffers;
  private final BiConsumer<TlsWire, Runnable> computing;

  /** An incomplete encrypted record. */
  private ByteBuffer received = NOTHING;

  /** Encrypted bytes that the channel did not accept. */
  private ByteBuffer unsent = NOTHING;

  private boolean computes;

  /**
   * Begins a connection.
   *
   * @param computing runs a task in a worker pool and then makes the connection continue
   */
  TlsWire(
      SocketChannel channel,
      SSLEngine engine,
      Buffers buffers,
      BiConsumer<TlsWire, Runnable> computing) {
    this.channel = channel;
    this.engine = engine;
    this.buffers = buffers;
    this.computing = computing;
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    if (computes) {
      return 0;
    }
    int before = into.position();
    ByteBuffer records = buffers.received.clear().put(received);
    boolean ended = channel.read(records) < 0;
    records.flip();
    ended |= !decrypt(records, into);
    received = copy(records);
    int count = into.position() - before;
    return count == 0 && ended ? -1 : count;
  }

  /** Decrypts the records and continues the handshake; returns false at the end of the stream. */
  private boolean decrypt(ByteBuffer records, ByteBuffer into) throws IOException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> {
          compute();
          return true;
        }
        case NEED_WRAP -> {
          if (!flush()) {
            return true;
          }
          if (!encrypt(NOTHING)) {
            return false;
          }
        }
        default -> {
          SSLEngineResult result = engine.unwrap(records, into);
          if (result.getStatus() != Status.OK || result.bytesConsumed() == 0) {
            return result.getStatus() != Status.CLOSED;
          }
        }
      }
    }
  }

  private void compute() {
    computes = true;
    computing.accept(
        this,
        () -> {
          for (Runnable task = engine.getDelegatedTask();
              task != null;
              task = engine.getDelegatedTask()) {
            task.run();
          }
        });
  }

  /** Notes that a computation has ended. Only the network thread calls this. */
  void computed() {
    computes = false;
  }

  @Override
  public void write(ByteBuffer from) throws IOException {
    while (from.hasRemaining() && flush()) {
      if (!encrypt(from)) {
        throw new IOException("nothing more can be sent");
      }
    }
  }

  /**
   * Encrypts one record. All earlier bytes must have been sent. Returns false if the engine has
   * closed.
   */
  private boolean encrypt(ByteBuffer from) throws IOException {
    ByteBuffer record = buffers.unsent.clear();
    SSLEngineResult result = engine.wrap(from, record);
    record.flip();
    channel.write(record);
    unsent = copy(record);
    return result.getStatus() == Status.OK;
  }

  @Override
  public boolean flush() throws IOException {
    if (unsent.hasRemaining()) {
      channel.write(unsent);
    }
    return !unsent.hasRemaining();
  }

  @Override
  public void finish() throws IOException {
    engine.closeOutbound();
    encrypt(NOTHING);
    if (flush()) {
      channel.shutdownOutput();
    }
  }

  @Override
  public int interest(int wanted) {
    if (computes) {
      return 0;
    }
    return unsent.hasRemaining() ? SelectionKey.OP_WRITE : wanted;
  }

  private static ByteBuffer copy(ByteBuffer some) {
    return some.hasRemaining() ? ByteBuffer.allocate(some.remaining()).put(some).flip() : NOTHING;
  }
}
