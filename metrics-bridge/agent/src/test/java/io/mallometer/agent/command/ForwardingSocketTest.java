package io.mallometer.agent.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@SuppressWarnings("try") // some sockets only have to be open
class ForwardingSocketTest {

  @TempDir private Path directory;

  private Path file() {
    return directory.resolve("here");
  }

  private ServerSocketChannel listen(String name) throws IOException {
    return ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(directory.resolve(name)));
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(file()));
  }

  private static void write(SocketChannel socket, String text) throws IOException {
    socket.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static String read(SocketChannel socket, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes);
    while (buffer.hasRemaining() && socket.read(buffer) >= 0) {
      continue;
    }
    return new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
  }

  @Test
  void bytesPassInBothDirectionsUntilTheOtherCloses() throws IOException {
    try (ServerSocketChannel other = listen("other");
        ForwardingSocket socket = ForwardingSocket.open(file(), directory.resolve("other"))) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
          .isEqualTo("rw-------");
      for (String question : new String[] {"load", "unload"}) {
        try (SocketChannel client = connect();
            SocketChannel accepted = other.accept()) {
          write(client, question);
          assertThat(read(accepted, question.length())).isEqualTo(question);
          write(accepted, "done");
          accepted.shutdownOutput();
          assertThat(read(client, 100)).isEqualTo("done");
        }
      }
    }
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).extracting(Path::getFileName).containsExactly(Path.of("other"));
    }
  }

  @Test
  void theFileAppearsWhenTheOtherDoes() throws Exception {
    try (ForwardingSocket socket = ForwardingSocket.open(file(), directory.resolve("other"))) {
      assertThat(file()).doesNotExist();
      try (ServerSocketChannel other = listen("other")) {
        while (!Files.exists(file())) {
          Thread.sleep(1);
        }
        try (SocketChannel client = connect();
            SocketChannel accepted = other.accept()) {
          write(client, "load");
          assertThat(read(accepted, 4)).isEqualTo("load");
        }
      }
    }
    assertThat(file()).doesNotExist();
  }

  @Test
  void nothingIsLeftIfTheOtherNeverComes() throws IOException {
    ForwardingSocket.open(file(), directory.resolve("other")).close();

    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aConnectionEndsIfTheOtherIsGone() throws IOException {
    ServerSocketChannel other = listen("other");
    try (ForwardingSocket socket = ForwardingSocket.open(file(), directory.resolve("other"))) {
      other.close();
      try (SocketChannel client = connect()) {
        assertThat(read(client, 1)).isEmpty();
      }
    }
  }

  @Test
  void aFileThatNobodyServesIsReplaced() throws IOException {
    listen("here").close();
    assertThat(file()).exists();
    try (ServerSocketChannel other = listen("other");
        ForwardingSocket socket = ForwardingSocket.open(file(), directory.resolve("other"));
        SocketChannel client = connect();
        SocketChannel accepted = other.accept()) {
      write(client, "load");
      assertThat(read(accepted, 4)).isEqualTo("load");
    }
  }

  /** A client would otherwise connect to the socket of an earlier JVM, and be refused. */
  @Test
  void aFileThatNobodyServesIsGoneUntilTheOtherAppears() throws IOException {
    listen("here").close();
    try (ForwardingSocket socket = ForwardingSocket.open(file(), directory.resolve("other"))) {
      assertThat(file()).doesNotExist();
    }
  }

  @Test
  void aSocketThatSomebodyServesIsLeftAlone() throws IOException {
    try (ServerSocketChannel here = listen("here")) {
      assertThatThrownBy(() -> ForwardingSocket.open(file(), directory.resolve("other")))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("belongs to another JVM");
      try (SocketChannel client = connect()) {
        assertThat(client.isConnected()).isTrue();
      }
    }
    assertThat(file()).exists();
  }
}
