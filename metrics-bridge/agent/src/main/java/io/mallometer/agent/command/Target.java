package io.mallometer.agent.command;

import io.mallometer.internal.text.TimeSpan;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Whom to ask, as every command that asks takes it. */
final class Target {

  /**
   * To answer for the first time takes a JVM half a second of processor time, of which a busy one
   * has little.
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

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = TIMEOUT,
      description = ABOUT_TIMEOUT)
  private String timeout = TIMEOUT;

  @Option(names = "--user", paramLabel = "NAME", defaultValue = "", description = ABOUT_USER)
  private String user = "";

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

  /** The process id or the address, as it was given. */
  String given() {
    return target;
  }

  /**
   * What can be done about a JVM that is not counted.
   *
   * @param target as it was given
   * @param root the view {@code nativememory}
   * @return a sentence; empty if it is counted, or the JVM's own remedy names no attach
   */
  static String offer(String target, Json root) {
    return isProcess(target) && root.at("status", "remedy").text().contains("(attach PID)")
        ? "not counted; `%s attach %s` starts now".formatted(Commands.called(), target)
        : "";
  }

  /** Why a JVM is not counted and, if there is something, what to do about it. */
  static String reason(Json root) {
    String remedy = root.at("status", "remedy").text();
    return root.at("status", "reason").text() + (remedy.isEmpty() ? "" : "; " + remedy);
  }

  /** How the library came in and since when it counts, such as {@code attached since ...}. */
  static String mode(Json root) {
    String since = root.at("self", "since").text();
    return root.at("self", "mode").text() + (since.isEmpty() ? "" : " since " + since);
  }

  /** What is known not to be counted, such as {@code incomplete: ...}; empty if nothing is. */
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

  /** The jar that runs: the one that holds this class, inside or as it is. */
  static Path jar() {
    String location = Target.class.getProtectionDomain().getCodeSource().getLocation().toString();
    return Path.of(URI.create(location)).toAbsolutePath();
  }
}
