package io.mallometer.agent.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** A process that can be asked. */
interface Source extends AutoCloseable {

  /**
   * An answer.
   *
   * @param type its media type
   * @param body what was answered; to be closed
   */
  record Reply(String type, InputStream body) {

    Json json() throws IOException, Failure {
      try (body) {
        return Json.parse(new String(body.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        throw new Failure(ExitCode.NOT_THERE, "the answer is " + e.getMessage());
      }
    }
  }

  /** What the process is called in messages. */
  String name();

  /**
   * Asks.
   *
   * @param what a view or a report, with its parameters, such as {@code sites?limit=10}
   */
  Reply get(String what) throws Failure, IOException;

  /** Asks the allocator of the process to give memory back. */
  Reply trim() throws Failure, IOException;

  /**
   * Searches the Java heap of the process for who holds native memory.
   *
   * @param what {@code owners/NUMBER}, with parameters
   */
  Reply owners(String what) throws Failure, IOException;

  /**
   * Begins or ends to count.
   *
   * @param what {@code attach} or {@code detach}
   */
  Reply post(String what) throws Failure, IOException;

  /** Leaves nothing behind. */
  @Override
  void close();

  /**
   * Why there is no answer as wanted.
   *
   * @param status HTTP's
   * @param reason what was answered instead
   */
  static Failure refusal(int status, String reason) {
    int code =
        switch (status) {
          case 400 -> ExitCode.USAGE;
          case 401, 403 -> ExitCode.NOT_ALLOWED;
          case 404, 405, 501 -> ExitCode.NOT_THERE;
          default -> ExitCode.FAILED;
        };
    return new Failure(code, reason);
  }

  /** The reason in a refusal, which is JSON or text; the first line of it. */
  static String reason(String body, String otherwise) {
    String text = body.strip();
    try {
      Json json = Json.parse(text);
      String reason = json.at("reason").text() + json.at("explanation").text();
      return reason.isEmpty() ? otherwise : reason;
    } catch (IllegalArgumentException e) {
      return text.isEmpty() || text.startsWith("<") ? otherwise : text.lines().findFirst().get();
    }
  }
}
