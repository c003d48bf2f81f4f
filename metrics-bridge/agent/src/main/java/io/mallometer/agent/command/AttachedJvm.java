package io.mallometer.agent.command;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import io.mallometer.internal.library.ProcessStart;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A JVM that answers the command's questions. The command asks through the socket of the JVM's
 * agent; without such a socket, it loads the agent into the JVM. Question and answer are files in a
 * private directory. Calls that may block run on a thread that is abandoned after the time limit,
 * because the JVM may hang.
 */
final class AttachedJvm implements Source {

  private static final String QUESTION = "question";
  private static final String ANSWER = "answer";

  /**
   * The name of the file by which the JDK asks a JVM to listen for an attach. The process id
   * follows.
   */
  private static final String REQUEST = ".attach_pid";

  private static final String SOCKET = ".java_pid";

  private static final String JAR = "mallometer-agent.jar";

  private static final int ENDING_CHECKS = 40;
  private static final int ENDING_MILLIS = 25;

  /**
   * The system property for the milliseconds that the JDK waits for a JVM to listen. After half of
   * this time the JDK sends SIGQUIT again. A JVM that has received the first signal answers each
   * further one with a thread dump.
   */
  private static final String ATTACH_TIMEOUT = "sun.tools.attach.attachTimeout";

  /**
   * The factor by which the JDK's time limit exceeds the command's time limit. The command thus
   * ends before the JDK sends a second signal.
   */
  private static final int LONGER = 4;

  /**
   * The directory of the JVM's socket, whatever java.io.tmpdir is. The JDK also creates its request
   * file there if it cannot do so in the JVM's working directory.
   */
  private static final Path MEETING_PLACE = Path.of("/tmp");

  /** A part of the JDK's message when its time limit has passed. */
  private static final String NO_RESPONSE = "respond within";

  /** The version that an agent reports if it cannot find its own. */
  private static final String UNKNOWN = "unknown";

  private final JvmProcess process;
  private final Path jar;
  private final Duration timeout;

  /**
   * The directory with question and answer, by its path in this process. Its path in the JVM may
   * differ ({@link #directoryInside}).
   */
  private final Path directory;

  private final Path directoryInside;
  private final Path jarInside;
  private final Thread atExit = new Thread(this::cleanUp, "mallometer-cleanup");

  /**
   * Files and sockets that the command creates in shared directories. {@link #cleanUp} removes them
   * also if the command is interrupted.
   */
  private final List<Closeable> leftBehind = new CopyOnWriteArrayList<>();

  private boolean asked;
  private boolean hangs;

  private AttachedJvm(JvmProcess process, Path jar, Duration timeout) throws IOException {
    this.process = process;
    this.jar = jar;
    this.timeout = timeout;
    Path root = process.proc().resolve("root");
    boolean elsewhere = process.hasOtherMounts();
    Path temporary = temporary(process);
    this.directory =
        Files.createTempDirectory(
            temporary,
            "mallometer-",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Runtime.getRuntime().addShutdownHook(atExit);
    this.directoryInside =
        elsewhere ? Path.of("/").resolve(root.relativize(directory)) : directory.toAbsolutePath();
    this.jarInside = elsewhere ? directoryInside.resolve(JAR) : jar;
    if (elsewhere) {
      Files.copy(jar, directory.resolve(JAR));
    }
    giveTo(process.owner());
  }

  /**
   * Returns an object that sends questions to a JVM process and waits at most {@code timeout} for
   * each answer.
   */
  static AttachedJvm of(JvmProcess process, Path jar, Duration timeout) throws Failure {
    process.check();
    try {
      Class.forName("com.sun.tools.attach.VirtualMachine");
    } catch (ClassNotFoundException e) {
      throw new Failure(
          ExitCode.NOT_THERE,
          "this Java has no module jdk.attach; run the command with a JDK, or name the http"
              + " address of an agent or a recording");
    }
    try {
      return new AttachedJvm(process, jar, timeout);
    } catch (IOException e) {
      throw new Failure(
          ExitCode.FAILED,
          "cannot write the question to %s, where process %d would read it (%s); use the"
                  .formatted(temporary(process), process.pid(), e.getMessage())
              + " address of its agent, http://HOST:PORT, or a recording");
    }
  }

  /**
   * Returns a directory that this process and the JVM can both use: the JVM's /tmp if the JVM has
   * other mounts.
   */
  private static Path temporary(JvmProcess process) {
    return process.hasOtherMounts()
        ? process.proc().resolve("root/tmp")
        : Path.of(System.getProperty("java.io.tmpdir"));
  }

  /**
   * Makes the JVM's user the owner of the directory, because root can attach to another user's JVM.
   */
  private void giveTo(int owner) throws IOException {
    if (!Files.getAttribute(directory, "unix:uid").equals(owner)) {
      Files.setAttribute(directory, "unix:uid", owner);
    }
  }

  @Override
  public String name() {
    return "process " + process.pid();
  }

  @Override
  public Reply get(String what) throws Failure, IOException {
    return ask("GET " + what);
  }

  @Override
  public Reply post(String what) throws Failure, IOException {
    return ask("POST " + what);
  }

  private Reply ask(String question) throws Failure, IOException {
    asked = true;
    Files.deleteIfExists(directory.resolve(ANSWER));
    Files.writeString(directory.resolve(QUESTION), question + "\n");
    giveQuestion();
    limited(this::load);
    Path answer = directory.resolve(ANSWER);
    if (!Files.isRegularFile(answer)) {
      throw process.alive()
          ? new Failure(
              ExitCode.NOT_THERE,
              name()
                  + " did not answer: it runs an agent of another version, or cannot write to "
                  + directory)
          : process.gone();
    }
    return reply(Files.newInputStream(answer));
  }

  private void giveQuestion() throws IOException {
    Files.setAttribute(
        directory.resolve(QUESTION), "unix:uid", Files.getAttribute(directory, "unix:uid"));
  }

  private Reply reply(InputStream answer) throws Failure, IOException {
    String[] head = line(answer).split("\t");
    String theirs = head.length < 3 ? "another" : head[2];
    if (!theirs.equals(Commands.version()) && !theirs.equals(UNKNOWN)) {
      answer.close();
      throw new Failure(
          ExitCode.NOT_THERE,
          "%s has the agent of version %s, and this is %s; use the mallometer-agent.jar of that"
                  .formatted(name(), theirs, Commands.version())
              + " version, or the address of its agent, http://HOST:PORT");
    }
    int status = Integer.parseInt(head[0]);
    if (status != 200) {
      try (answer) {
        String body = new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        throw Source.refusal(status, Source.reason(body, "it answered with status " + status));
      }
    }
    return new Reply(head[1], answer);
  }

  private static String line(InputStream answer) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = answer.read(); c >= 0 && c != '\n'; c = answer.read()) {
      line.write(c);
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  private Void load() throws Exception {
    if (askedBySocket()) {
      return null;
    }
    if (System.getProperty(ATTACH_TIMEOUT) == null) {
      System.setProperty(ATTACH_TIMEOUT, Long.toString(LONGER * timeout.toMillis()));
    }
    Path theirs = process.proc().resolve("root").resolve(Path.of("/").relativize(MEETING_PLACE));
    if (process.pidInside() != process.pid() || Files.isSameFile(theirs, MEETING_PLACE)) {
      attach();
    } else {
      attachElsewhere(theirs);
    }
    return null;
  }

  private void attach() throws Exception {
    VirtualMachine machine = VirtualMachine.attach(Long.toString(process.pid()));
    try {
      machine.loadAgent(jarInside.toString(), directoryInside.toString());
    } finally {
      machine.detach();
    }
  }

  /**
   * Attaches to a JVM that has another /tmp, such as a service with PrivateTmp. Requires that the
   * JVM has the same process id in its own PID namespace and in this one. JDK 17 looks for the
   * JVM's socket only in the command's /tmp. This method therefore opens a socket there that
   * forwards to the JVM's socket.
   */
  private void attachElsewhere(Path theirs) throws Exception {
    String name = SOCKET + process.pid();
    Path request = theirs.resolve(REQUEST + process.pid());
    ForwardingSocket socket =
        ForwardingSocket.open(MEETING_PLACE.resolve(name), theirs.resolve(name));
    leftBehind.add(socket);
    try (socket) {
      if (!Files.exists(request)) {
        Files.createFile(request);
        leftBehind.add(() -> Files.deleteIfExists(request));
      }
      attach();
    } finally {
      leftBehind.remove(socket);
    }
  }

  /**
   * Asks the agent with which the JVM was started, through the agent's socket. JDK 21 and newer
   * would print a warning if the command loaded an agent.
   *
   * <p>Returns false if there is no such agent, or if the socket's directory belongs to another
   * user. Also returns false if another process listens, because containers that share /tmp can
   * have equal process ids.
   */
  private boolean askedBySocket() throws IOException {
    Path place = process.proc().resolve("root/tmp/.mallometer-" + process.pidInside());
    try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      if (!Files.getAttribute(place, "unix:uid", LinkOption.NOFOLLOW_LINKS)
          .equals(process.owner())) {
        return false;
      }
      socket.connect(UnixDomainSocketAddress.of(place.resolve("socket")));
      String line = ProcessStart.identity(process.proc()) + " " + directoryInside + "\n";
      socket.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
      return socket.read(ByteBuffer.allocate(1)) == 1;
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  private void limited(Callable<Void> work) throws Failure, IOException {
    FutureTask<Void> task = new FutureTask<>(work);
    Thread thread = new Thread(task, "mallometer-attach");
    thread.setDaemon(true);
    thread.start();
    try {
      task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw late();
    } catch (InterruptedException e) {
      throw new Failure(ExitCode.INTERRUPTED, "interrupted");
    } catch (ExecutionException e) {
      throw explained(e.getCause());
    }
  }

  /**
   * Returns the failure for a JVM that did not answer within the time limit. Also makes {@link
   * #cleanUp} delete the JDK's request file, because the JDK itself deletes this file only after a
   * longer time limit.
   */
  private Failure late() {
    hangs = true;
    String request = REQUEST + process.pidInside();
    for (String place : List.of("cwd", "root" + MEETING_PLACE)) {
      Path file = process.proc().resolve(place).resolve(request);
      leftBehind.add(() -> Files.deleteIfExists(file));
    }
    String seconds = BigDecimal.valueOf(timeout.toMillis(), 3).stripTrailingZeros().toPlainString();
    Failure unknown =
        new Failure(
            ExitCode.NO_ANSWER,
            "%s did not answer within %s s: it hangs or is very busy; wait longer with --timeout,"
                    .formatted(name(), seconds)
                + " or read its recording");
    return process.stopped().orElse(unknown);
  }

  private Failure explained(Throwable e) {
    if (ends(e)) {
      return new Failure(ExitCode.GONE, name() + " ended during the command");
    }
    String message = String.valueOf(e.getMessage());
    if (e instanceof AttachNotSupportedException && message.contains(NO_RESPONSE)) {
      return late();
    }
    if (e instanceof AgentLoadException || e instanceof AgentInitializationException) {
      return new Failure(
          ExitCode.NOT_THERE,
          name()
              + " does not load the agent ("
              + message
              + "); start it with -XX:+EnableDynamicAgentLoading or with -javaagent");
    }
    if (e instanceof AttachNotSupportedException) {
      return new Failure(
          ExitCode.NOT_THERE,
          name() + " cannot be attached to: " + message + "; use the http address of its agent");
    }
    return new Failure(ExitCode.FAILED, name() + ": " + (e.getMessage() == null ? e : message));
  }

  /**
   * Returns whether the process ended. After an IOException this waits up to 1 s, because the
   * connection breaks before the process is gone.
   */
  private boolean ends(Throwable e) {
    try {
      for (int i = 0; i < ENDING_CHECKS && e instanceof IOException && process.alive(); i++) {
        Thread.sleep(ENDING_MILLIS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return !process.alive();
  }

  @Override
  public void close() {
    try {
      if (asked && !hangs && process.alive()) {
        ask("CLOSE").body().close();
      }
    } catch (Failure | IOException e) {
      // The agent ends the session itself if no question comes for two minutes.
      asked = false;
    }
    cleanUp();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // The command's JVM is shutting down, so the hook can no longer be removed.
      asked = false;
    }
  }

  private void cleanUp() {
    for (Closeable left : leftBehind) {
      try {
        left.close();
      } catch (IOException e) {
        // A file that cannot be deleted stays. It is empty, or a socket that nobody serves.
        continue;
      }
    }
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    } catch (IOException e) {
      // The directory was deleted already.
      return;
    }
  }
}
