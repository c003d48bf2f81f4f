package io.mallometer.agent.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** A JVM process to which a command sends its requests, for example for a report. */
interface Source extends AutoCloseable {

  /** An answer with its media type. The caller closes the body. */
  record Reply(String type, InputStream body) {

    Json json() throws IOException, Failure {
      try (body) {
        return Json.parse(new String(body.readAllBytes(), StandardCharsets.UTF_8));
      } catch (IllegalArgumentException e) {
        throw new Failure(ExitCode.NOT_THERE, "the answer is " + e.getMessage());
      }
    }
  }

  String name();

  /**
   * Asks for a view or a report.
   *
   * @param what the name and parameters of the view or report, such as {@code sites?limit=10}
   */
  Reply get(String what) throws Failure, IOException;

  /**
   * Asks the process for a change. A process given by an address accepts only {@code trim} and
   * {@code owners}.
   *
   * @param what {@code trim} (return memory to the system), {@code owners/NUMBER} with parameters
   *     (search the Java heap for owners of native memory), {@code attach}, {@code detach}, {@code
   *     phase} or {@code phase NAME}
   */
  Reply post(String what) throws Failure, IOException;

  @Override
  void close();

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

  /**
   * Returns the reason that the body of a refusal states: its JSON fields {@code reason} and {@code
   * explanation}, or the first line of plain text. Returns {@code otherwise} if the body states no
   * reason or is HTML.
   */
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
