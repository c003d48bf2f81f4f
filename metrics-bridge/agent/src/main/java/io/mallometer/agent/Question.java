package io.mallometer.agent;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;

/**
 * A request of the command line to a running JVM. The JVM passes only a short text to an agent, so
 * question and answer are files in a private directory:
 *
 * <ul>
 *   <li>{@code question}: one line, such as {@code GET sites?limit=10}
 *   <li>{@code answer}: written by the JVM under another name and then renamed. Its first line
 *       holds an HTTP status, the media type and the version of the agent, separated by tabs; the
 *       rest is the body
 * </ul>
 *
 * @param directory the directory of both files
 */
record Question(Path directory) {

  static final String QUESTION = "question";
  static final String ANSWER = "answer";

  private static final String UNFINISHED = "answer.part";

  private static final int FAILED = 500;
  private static final int NOT_IMPLEMENTED = 501;

  @FunctionalInterface
  private interface Writing {
    void to(OutputStream out) throws IOException;
  }

  static Question parse(String options) {
    Path directory = Path.of(options);
    if (!directory.isAbsolute() || !Files.isDirectory(directory)) {
      throw new IllegalArgumentException("\"" + options + "\" is not a directory with a question");
    }
    return new Question(directory);
  }

  /**
   * Lets the payload (the agent's code in a class loader of its own) answer, and loads it if
   * necessary.
   */
  void answer(Callable<Payload> payload) throws Exception {
    String question = Files.readString(directory.resolve(QUESTION)).strip();
    answer(out -> write(question, payload, out));
  }

  /** Writes a refusal as the answer, without reading the question. */
  void refuse(String reason) throws IOException {
    answer(out -> write(NOT_IMPLEMENTED, reason, out));
  }

  private void answer(Writing answer) throws IOException {
    Path unfinished = directory.resolve(UNFINISHED);
    try (OutputStream out =
        new BufferedOutputStream(
            Files.newOutputStream(
                unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
      answer.to(out);
    }
    Files.move(unfinished, directory.resolve(ANSWER), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void write(String question, Callable<Payload> payload, OutputStream out)
      throws IOException {
    try {
      payload.call().answer(question, Version.text(), out);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      write(FAILED, Agent.reason(e), out);
    }
  }

  private static void write(int status, String reason, OutputStream out) throws IOException {
    out.write(
        (status + "\ttext/plain\t" + Version.text() + "\n" + reason + "\n")
            .getBytes(StandardCharsets.UTF_8));
  }
}
