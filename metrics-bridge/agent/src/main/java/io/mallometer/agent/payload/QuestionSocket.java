package io.mallometer.agent.payload;

import io.mallometer.internal.library.ProcessStart;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Answers questions of the command line in a JVM that was started with the agent. Without this
 * socket, each command would load the agent again, and JDK 21 and newer would print a warning to
 * the application's output.
 *
 * <p>The socket is in a directory that only this user can enter. A command sends one line with the
 * identity of its target process ({@link ProcessStart#identity}) and the directory that contains
 * its question. The agent writes the answer into that directory and then sends a newline.
 *
 * <p>JVMs in containers that share /tmp may have the same process id. The first of these JVMs owns
 * the socket, and does not answer a line with another identity. The command then loads the agent
 * into its target JVM.
 */
final class QuestionSocket {

  /**
   * The beginning of the path of the socket's directory; the process id follows. The path does not
   * depend on java.io.tmpdir.
   */
  private static final String DIRECTORY = "/tmp/.mallometer-";

  private static final String SOCKET = "socket";

  private static final int LONGEST_LINE = 4_096;
  private static final int FAILED = 500;
  private static final long BETWEEN_FAILURES_NANOS = 50_000_000;

  /** The time within which a command must send its line. Other commands wait meanwhile. */
  private static final long LONGEST_QUESTION_NANOS = 3_000_000_000L;

  private static final long BETWEEN_READS_NANOS = 2_000_000;
  private static final long LONGEST_PAUSE_MILLIS = 1_000;
  private static final Path SELF = Path.of("/proc/self");

  private final Path directory;
  private final String version;
  private @Nullable ServerSocketChannel listening;
  private @Nullable Thread serving;

  private QuestionSocket(Path directory, String version) {
    this.directory = directory;
    this.version = version;
  }

  /**
   * Starts a daemon thread that listens until the JVM ends.
   *
   * @throws IOException if it cannot listen; each command must then load the agent
   */
  static QuestionSocket listen(String version) throws IOException {
    QuestionSocket socket = listen(Path.of(DIRECTORY + ProcessHandle.current().pid()), version);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(null, socket::end, "mallometer-questions-end", 0, false));
    return socket;
  }

  static QuestionSocket listen(Path directory, String version) throws IOException {
    makePrivate(directory);
    QuestionSocket socket = new QuestionSocket(directory, version);
    socket.resume();
    return socket;
  }

  /** Makes the directory, or reuses one that a killed JVM of this user left. */
  private static void makePrivate(Path directory) throws IOException {
    try {
      Files.createDirectory(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      Object owner = Files.getAttribute(directory, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      Object self = Files.getAttribute(SELF, "unix:uid");
      if (!owner.equals(self) || !Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    }
  }

  /**
   * Listens again after {@link #pause}.
   *
   * @throws IOException if listening fails, or another JVM listens
   */
  synchronized void resume() throws IOException {
    Path socket = directory.resolve(SOCKET);
    if (isListenedTo(socket)) {
      throw new FileAlreadyExistsException(socket.toString());
    }
    Files.deleteIfExists(socket);
    ServerSocketChannel opened = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      opened.bind(UnixDomainSocketAddress.of(socket));
      serving = serveOnThread(opened);
      listening = opened;
    } catch (Throwable e) {
      opened.close();
      Files.deleteIfExists(socket);
      throw e;
    }
  }

  private Thread serveOnThread(ServerSocketChannel opened) {
    // An anonymous class, because the first lambda would make the JDK load its support for lambdas.
    Runnable answers =
        new Runnable() {
          @Override
          public void run() {
            serve(opened);
          }
        };
    Thread thread = new Thread(null, answers, "mallometer-questions", 0, false);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /**
   * Stops listening. Waits at most 1 s for the serving thread, because the kernel accepts
   * connections until that thread has returned from its system call.
   */
  synchronized void pause() throws IOException {
    if (listening != null && serving != null) {
      listening.close();
      try {
        serving.join(LONGEST_PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Deletes the socket and its directory. Does nothing while listening is paused, because another
   * JVM may own the socket then.
   */
  synchronized void end() {
    if (listening != null && listening.isOpen()) {
      directory.resolve(SOCKET).toFile().delete();
      directory.toFile().delete();
    }
  }

  private static boolean isListenedTo(Path socket) throws IOException {
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false);
      try {
        probe.connect(UnixDomainSocketAddress.of(socket));
        return true;
      } catch (IOException e) {
        return false;
      }
    }
  }

  private void serve(ServerSocketChannel opened) {
    while (opened.isOpen()) {
      try (SocketChannel asking = opened.accept()) {
        String line = line(asking);
        int place = line.indexOf(' ', line.indexOf(' ') + 1);
        // The identity of this process is read each time, because a restore from a checkpoint
        // changes it.
        if (place > 0
            && ProcessStart.isSame(line.substring(0, place), ProcessStart.identity(SELF))) {
          answer(Path.of(line.substring(place + 1)));
          asking.write(ByteBuffer.wrap(new byte[] {'\n'}));
        }
      } catch (IOException | RuntimeException | Error e) {
        // The command may have ended, or the process may have run out of file descriptors or heap.
        // The loop continues until the listening socket is closed.
        if (opened.isOpen()) {
          LockSupport.parkNanos(BETWEEN_FAILURES_NANOS);
        }
      }
    }
  }

  private static String line(SocketChannel asking) throws IOException {
    ByteBuffer line = ByteBuffer.allocate(LONGEST_LINE);
    long start = System.nanoTime();
    asking.configureBlocking(false);
    while (line.hasRemaining()
        && asking.read(line) >= 0
        && System.nanoTime() - start < LONGEST_QUESTION_NANOS) {
      String read = new String(line.array(), 0, line.position(), StandardCharsets.UTF_8);
      if (read.endsWith("\n")) {
        return read.strip();
      }
      LockSupport.parkNanos(BETWEEN_READS_NANOS);
    }
    throw new IOException("not a line");
  }

  /** Answers the question in a directory, in the format of {@code io.mallometer.agent.Question}. */
  private void answer(Path place) throws IOException {
    String question = Files.readString(place.resolve("question")).strip();
    Path unfinished = place.resolve("answer.part");
    try (OutputStream out =
        new BufferedOutputStream(
            Channels.newOutputStream(
                Files.newByteChannel(
                    unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)))) {
      write(question, out);
    }
    Files.move(unfinished, place.resolve("answer"), StandardCopyOption.ATOMIC_MOVE);
  }

  private void write(String question, OutputStream out) throws IOException {
    try {
      Entry.answer(question, version, List::of, out);
    } catch (RuntimeException | LinkageError e) {
      String reason = FAILED + "\ttext/plain\t" + version + "\n" + e + "\n";
      out.write(reason.getBytes(StandardCharsets.UTF_8));
    }
  }
}
