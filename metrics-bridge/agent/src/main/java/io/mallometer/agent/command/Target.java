package io.mallometer.agent.command;

import io.mallometer.internal.text.TimeSpan;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The parameter and options by which a command names the process to query. */
final class Target {

  /**
   * The default time limit. The JVM needs 0.5 s of CPU time for the first answer, and much more
   * time if it is busy.
   */
  static final String TIMEOUT = "60s";

  static final String ABOUT_TIMEOUT = "how long to wait for an answer; ${DEFAULT-VALUE} by default";

  static final String ABOUT_USER =
      "the user name for a login; the command asks for the password, or reads MALLOMETER_PASSWORD";

  @Parameters(
      paramLabel = "PID|URL",
      description =
          "a JVM of this user by its process id, or http(s)://HOST:PORT of its agent or of an"
              + " application with the endpoint nativememory, or that endpoint's address")
  private String target = "";

  @Option(names = "--timeout", paramLabel = "TIME", description = ABOUT_TIMEOUT)
  private String timeout;

  @Option(names = "--user", paramLabel = "NAME", defaultValue = "", description = ABOUT_USER)
  private String user = "";

  Target() {
    this(TIMEOUT);
  }

  Target(String timeout) {
    this.timeout = timeout;
  }

  static boolean isProcess(String target) {
    return target.matches("\\d{1,10}");
  }

  static boolean isAddress(String target) {
    return target.matches("(?i)https?://.+");
  }

  boolean isProcess() {
    return isProcess(target);
  }

  Source open() throws Failure, IOException {
    return open(target, user, span("--timeout", timeout));
  }

  /** Returns the process id or the address, as the user gave it. */
  String given() {
    return target;
  }

  /**
   * Returns a sentence that offers the command {@code attach}. The sentence is empty if the JVM's
   * status does not recommend this command, or if the user gave an address.
   *
   * @param target the process as the user named it
   * @param root the view {@code nativememory}
   */
  static String offer(String target, Json root) {
    return isProcess(target) && root.at("status", "remedy").text().contains("(attach PID)")
        ? "not counted; `%s attach %s` starts now".formatted(Commands.called(), target)
        : "";
  }

  static String reason(Json root) {
    String remedy = root.at("status", "remedy").text();
    return root.at("status", "reason").text() + (remedy.isEmpty() ? "" : "; " + remedy);
  }

  /**
   * Returns how the library came into the process and since when it counts, such as {@code attached
   * since ...}.
   */
  static String mode(Json root) {
    String since = root.at("self", "since").text();
    return root.at("self", "mode").text() + (since.isEmpty() ? "" : " since " + since);
  }

  /** Returns a note on the allocations that the counters miss; empty if no gap is known. */
  static String gaps(Json root) {
    String gaps = root.at("self", "attachment", "gaps").text();
    return gaps.isEmpty() ? "" : "incomplete: " + gaps;
  }

  static Source open(String target, String user, Duration timeout) throws Failure, IOException {
    if (isProcess(target)) {
      return AttachedJvm.of(JvmProcess.of(Long.parseLong(target)), jar(), timeout);
    }
    if (isAddress(target)) {
      return new HttpSource(target, user, timeout);
    }
    throw new Failure(ExitCode.USAGE, "\"" + target + "\" is neither a process id nor an address");
  }

  static Duration span(String option, String text) throws Failure {
    return TimeSpan.parse(text)
        .filter(span -> !span.isZero())
        .orElseThrow(
            () ->
                new Failure(
                    ExitCode.USAGE,
                    option + " is '" + text + "' and must be a time such as 30s or 2m"));
  }

  /**
   * Returns the agent's jar: the jar that contains this class, or the jar in which that jar is
   * nested.
   */
  static Path jar() {
    String location = Target.class.getProtectionDomain().getCodeSource().getLocation().toString();
    return Path.of(URI.create(location)).toAbsolutePath();
  }
}
