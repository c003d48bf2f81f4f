package io.mallometer.agent.command;

import io.mallometer.view.TimeSpan;
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

  @Parameters(
      paramLabel = "PID|URL",
      description =
          "a JVM of this user by its process id, or http(s)://HOST:PORT of its agent, or the address"
              + " of the endpoint nativememory")
  private String target = "";

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = TIMEOUT,
      description = "how long to wait for an answer; ${DEFAULT-VALUE} unless said")
  private String timeout = TIMEOUT;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      defaultValue = "",
      description = "the name for a login; the password is asked for or in MALLOMETER_PASSWORD")
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

  static Source open(String target, String user, Duration timeout) throws Failure, IOException {
    if (isProcess(target)) {
      return AttachedJvm.of(JvmProcess.of(Long.parseLong(target)), jar(), timeout);
    }
    if (isAddress(target)) {
      return new HttpSource(target, user, timeout);
    }
    throw new Failure(
        ExitCode.NOT_UNDERSTOOD, "\"" + target + "\" is neither a process id nor an address");
  }

  static Duration span(String option, String text) throws Failure {
    return TimeSpan.parse(text)
        .filter(span -> !span.isZero())
        .orElseThrow(
            () ->
                new Failure(
                    ExitCode.NOT_UNDERSTOOD,
                    option + " is '" + text + "' and must be a time such as 30s or 2m"));
  }

  /** The jar that runs: the one that holds this class, inside or as it is. */
  static Path jar() {
    String location = Target.class.getProtectionDomain().getCodeSource().getLocation().toString();
    return Path.of(URI.create(location)).toAbsolutePath();
  }
}
