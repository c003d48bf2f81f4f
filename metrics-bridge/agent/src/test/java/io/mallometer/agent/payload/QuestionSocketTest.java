package io.mallometer.agent.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.internal.library.ProcessStart;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks which commands the socket of a JVM answers, and that a JVM does not take or delete the
 * socket of another.
 */
@Timeout(120)
class QuestionSocketTest {

  @TempDir private Path place;

  private QuestionSocket socket;

  @BeforeEach
  void listen() throws IOException {
    Files.writeString(place.resolve("question"), "GET nothing\n");
    socket = listenedTo();
  }

  @AfterEach
  void end() throws IOException {
    socket.end();
    socket.pause();
  }

  private QuestionSocket listenedTo() throws IOException {
    return QuestionSocket.listen(place.resolve("shared"), "1");
  }

  private SocketChannel connected() throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    channel.connect(UnixDomainSocketAddress.of(place.resolve("shared/socket")));
    return channel;
  }

  private boolean answers(String identity) throws IOException {
    try (SocketChannel channel = connected()) {
      String line = identity + " " + place + "\n";
      channel.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
      return channel.read(ByteBuffer.allocate(1)) == 1;
    }
  }

  private static String self() {
    return ProcessStart.identity(Path.of("/proc", "" + ProcessHandle.current().pid()));
  }

  @Test
  void answersQuestionsToItself() throws IOException {
    assertThat(answers(self())).isTrue();
    assertThat(place.resolve("answer")).exists();
  }

  @Test
  void leavesQuestionsToAnotherProcessAlone() throws IOException {
    String[] words = self().split(" ");
    assertThat(answers((Long.parseLong(words[0]) + 1) + " " + words[1])).isFalse();
    assertThat(answers(words[0] + " pid:[1]")).isFalse();
    assertThat(answers("- -")).isFalse();
    assertThat(place.resolve("answer")).doesNotExist();
    assertThat(answers(words[0] + " -")).isTrue();
  }

  @Test
  void aClientThatWritesNothingDelaysOtherClientsBySecondsOnly() throws IOException {
    try (SocketChannel stopped = connected()) {
      assertThat(stopped.isOpen()).isTrue();
      assertThat(answers(self())).isTrue();
    }
  }

  @Test
  void theSocketOfAJvmThatLivesIsLeftAlone() throws IOException {
    assertThatThrownBy(this::listenedTo).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(answers(self())).isTrue();
  }

  @Test
  void aJvmThatHasLostTheSocketDoesNotDeleteIt() throws IOException {
    socket.pause();
    QuestionSocket other = listenedTo();
    assertThatThrownBy(socket::resume).isInstanceOf(FileAlreadyExistsException.class);
    socket.end();
    assertThat(answers(self())).isTrue();
    socket = other;
  }

  @Test
  void nothingIsLeftAtTheEnd() throws IOException {
    socket.end();
    assertThat(place.resolve("shared")).doesNotExist();
  }
}
