package io.mallometer.agent.payload;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * Clients that keep a server waiting until the server closes their connections. Closed clients
 * connect again when a test calls {@link #comeAgain}.
 */
final class BadClients implements AutoCloseable {

  /** The bytes of a client's receive buffer, which is too small for a whole answer. */
  private static final int SMALL_BUFFER = 4_096;

  private final InetSocketAddress address;
  private final List<Client> clients = new ArrayList<>();

  /**
   * A client, and the bytes that it sends when it connects. Afterwards the client neither writes
   * nor reads.
   */
  private record Client(SocketChannel channel, byte[] words) {}

  BadClients(int port) {
    this.address = new InetSocketAddress("127.0.0.1", port);
  }

  BadClients come(int ofEachKind, List<byte[]> kinds) {
    for (int i = 0; i < ofEachKind; i++) {
      kinds.forEach(words -> clients.add(connected(words)));
    }
    return this;
  }

  void comeAgain() {
    for (int i = 0; i < clients.size(); i++) {
      if (isGivenUp(clients.get(i))) {
        closed(clients.get(i));
        clients.set(i, connected(clients.get(i).words));
      }
    }
  }

  private static boolean isGivenUp(Client client) {
    try {
      ByteBuffer some = ByteBuffer.allocate(1);
      return client.channel.read(some) < 0;
    } catch (IOException e) {
      return true;
    }
  }

  private Client connected(byte[] words) {
    try {
      SocketChannel channel = SocketChannel.open();
      channel.setOption(StandardSocketOptions.SO_RCVBUF, SMALL_BUFFER);
      channel.connect(address);
      channel.configureBlocking(false);
      channel.write(ByteBuffer.wrap(words));
      return new Client(channel, words);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    clients.forEach(BadClients::closed);
  }

  private static void closed(Client client) {
    try {
      client.channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<byte[]> plain() {
    return List.of(
        words("GET /nativememory/table HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        words("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20)),
        words("GET /met"),
        words("GET /metrics HTTP/1.1\r\nHost: localhost\r\nUser-Ag"),
        words("GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  }

  /**
   * Returns the bytes that each kind of bad client sends. None of them finishes the TLS handshake.
   */
  static List<byte[]> secure() {
    byte[] hello = hello();
    return List.of(
        words(""), Arrays.copyOf(hello, 3), Arrays.copyOf(hello, hello.length / 2), hello, hello);
  }

  private static byte[] words(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] hello() {
    try {
      SSLEngine engine = SSLContext.getDefault().createSSLEngine("localhost", 443);
      engine.setUseClientMode(true);
      ByteBuffer message = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
      engine.wrap(ByteBuffer.allocate(0), message);
      return Arrays.copyOf(message.array(), message.position());
    } catch (GeneralSecurityException | IOException e) {
      throw new AssertionError(e);
    }
  }
}
