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
 * What the command line asks a JVM that runs already. It lies in a private directory of the one who
 * asks, because the JVM takes no more than a short text with an agent:
 *
 * <ul>
 *   <li>{@code question}: one line, such as {@code GET sites?limit=10}
 *   <li>{@code answer}: made by the JVM under another name and then renamed. Its first line is
 *       HTTP's status, the media type and the version of the agent, with tabs between; what follows
 *       is the answer
 * </ul>
 *
 * @param directory where both are
 */
record Question(Path directory) {

  static final String QUESTION = "question";
  static final String ANSWER = "answer";

  private static final String UNFINISHED = "answer.part";

  static Question parse(String options) {
    Path directory = Path.of(options);
    if (!directory.isAbsolute() || !Files.isDirectory(directory)) {
      throw new IllegalArgumentException("\"" + options + "\" is no directory with a question");
    }
    return new Question(directory);
  }

  /** Answers by a payload, which is only loaded if it has to be. */
  void answer(Callable<Payload> payload) throws Exception {
    String question = Files.readString(directory.resolve(QUESTION)).strip();
    Path unfinished = directory.resolve(UNFINISHED);
    try (OutputStream out =
        new BufferedOutputStream(
            Files.newOutputStream(
                unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE))) {
      write(question, payload, out);
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
      out.write(
          ("500\ttext/plain\t" + Version.text() + "\n" + Agent.reason(e) + "\n")
              .getBytes(StandardCharsets.UTF_8));
    }
  }
}
