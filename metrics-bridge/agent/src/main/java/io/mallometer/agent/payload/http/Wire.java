package io.mallometer.agent.payload.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * What a connection's bytes go through: the channel as it is, or {@link TlsWire}. Nothing here
 * waits. Only the thread of the network calls it.
 */
interface Wire {

  /**
   * Reads what has come.
   *
   * @param into has room for a record of TLS
   * @return how many bytes; 0 if there are none yet, -1 if the client sends no more
   */
  int read(ByteBuffer into) throws IOException;

  /** Takes as much as can be sent now. */
  void write(ByteBuffer from) throws IOException;

  /** Sends what was taken and could not be sent; false if some is left. */
  boolean flush() throws IOException;

  /** Tells the client that nothing more comes. */
  void finish() throws IOException;

  /**
   * What to wait for on the channel.
   *
   * @param wanted what the connection waits for, as of {@link SelectionKey}
   */
  int interest(int wanted);

  /** Bytes as they are. */
  record Plain(SocketChannel channel) implements Wire {

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
