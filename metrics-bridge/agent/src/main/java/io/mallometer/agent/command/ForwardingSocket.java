package io.mallometer.agent.command;

import java.io.Closeable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A Unix socket that forwards each connection to another socket, in both directions. The forwarding
 * socket's file appears as soon as the other socket exists, so a client can wait for it instead of
 * for the other socket's file. A symbolic link to the other socket does not suffice: from update 21
 * on, JDK 17 follows no symbolic link to the socket.
 */
final class ForwardingSocket implements Closeable {

  private static final int CHECK_MILLIS = 5;
  private static final int BUFFER_BYTES = 8192;

  private final Path file;
  private final Path other;

  /**
   * The private directory in which the socket's file is created. The file is moved to its final
   * path once only this user can connect to it.
   */
  private final Path directory;

  private final Path hidden;
  private final ServerSocketChannel server;
  private boolean shown;

  private ForwardingSocket(Path file, Path other) throws IOException {
    this.file = file;
    this.other = other;
    this.directory = Files.createTempDirectory(file.getParent(), "mallometer-");
    this.hidden = directory.resolve("socket");
    this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
  }

  /**
   * Opens a socket at {@code file} that forwards to {@code other} until it is closed. Creates
   * {@code file} itself if {@code other} exists already. Otherwise, a thread creates {@code file}
   * as soon as {@code other} exists. Deletes a {@code file} at which no process listens: a JVM that
   * was killed leaves one, and a client would not wait.
   *
   * @throws IOException if another process listens at {@code file}, the file that was left cannot
   *     be deleted, or the socket cannot be created
   */
  static ForwardingSocket open(Path file, Path other) throws IOException {
    if (isListening(file)) {
      throw new IOException(file + " belongs to another JVM");
    }
    Files.deleteIfExists(file);
    ForwardingSocket socket = new ForwardingSocket(file, other);
    try {
      socket.listen();
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
    return socket;
  }

  private static boolean isListening(Path file) {
    try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(file))) {
      return client.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private void listen() throws IOException {
    server.bind(UnixDomainSocketAddress.of(hidden));
    Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rw-------"));
    boolean appeared = appear();
    start(() -> serve(appeared));
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "mallometer-forward");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Makes the file appear if the other socket exists. Returns false if the other socket has to be
   * awaited.
   */
  private synchronized boolean appear() throws IOException {
    if (server.isOpen() && Files.exists(other)) {
      Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE);
      shown = true;
    }
    return shown || !server.isOpen();
  }

  private void serve(boolean appeared) {
    try {
      for (boolean shown = appeared; !shown; shown = appear()) {
        Thread.sleep(CHECK_MILLIS);
      }
      while (true) {
        forward(server.accept());
      }
    } catch (IOException | InterruptedException e) {
      // The socket is closed, or its file could not be moved into place. A client that waits for
      // the file gives up after a time limit.
      return;
    }
  }

  private void forward(SocketChannel client) throws IOException {
    try {
      SocketChannel target = SocketChannel.open(UnixDomainSocketAddress.of(other));
      start(() -> copy(client, target));
      start(() -> copy(target, client));
    } catch (IOException e) {
      // The connection to the target failed, so the client's connection must end too.
      client.close();
    }
  }

  /**
   * Copies all bytes and then closes both ends, because the JVM closes its end when it has
   * answered.
   */
  private static void copy(SocketChannel from, SocketChannel to) {
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    try (from;
        to) {
      while (from.read(buffer) >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) {
          to.write(buffer);
        }
        buffer.clear();
      }
    } catch (IOException e) {
      // The other direction has closed both ends.
      buffer.clear();
    }
  }

  @Override
  public synchronized void close() throws IOException {
    try {
      server.close();
    } finally {
      (shown ? file : hidden).toFile().delete();
      directory.toFile().delete();
    }
  }
}
