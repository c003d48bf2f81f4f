package io.mallometer.agent.payload.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * The layer between a connection and its channel: plain, or {@link TlsWire}. No method waits. Only
 * the network thread calls them.
 */
interface Transport {

  /**
   * Reads received bytes.
   *
   * @param into has room for a TLS record
   * @return the number of bytes; 0 if there are none yet, -1 if the client sends no more
   */
  int read(ByteBuffer into) throws IOException;

  /** Takes bytes from the buffer and sends them until the channel accepts no more. */
  void write(ByteBuffer from) throws IOException;

  /** Sends bytes that were taken but not sent; returns false if some are left. */
  boolean flush() throws IOException;

  /** Tells the client that no more bytes follow. */
  void finish() throws IOException;

  /**
   * Returns the events to select on the channel.
   *
   * @param wanted the events that the connection needs, as in {@link SelectionKey}
   */
  int interest(int wanted);

  record Plain(SocketChannel channel) implements Transport {

    @Override
    public int read(ByteBuffer into) throws IOException {
      return channel.read(into);
    }

    @Override
    public void write(ByteBuffer from) throws IOException {
      channel.write(from);
    }

    @Override
    public boolean flush() {
      return true;
    }

    @Override
    public void finish() throws IOException {
      channel.shutdownOutput();
    }

    @Override
    public int interest(int wanted) {
      return wanted;
    }
  }
}
