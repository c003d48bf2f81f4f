package io.mallometer.agent.command;

import java.io.IOException;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The parameter and option of the commands attach, detach and phase, which accept no address. */
final class TargetProcess {

  @Parameters(paramLabel = "PID", description = "a JVM of this user by its process id")
  private String pid = "";

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = Target.TIMEOUT,
      description = Target.ABOUT_TIMEOUT)
  private String timeout = Target.TIMEOUT;

  Source open() throws Failure, IOException {
    if (!Target.isProcess(pid)) {
      throw new Failure(
          ExitCode.USAGE,
          "\"" + pid + "\" is not a process id, which attach, detach and phase need");
    }
    return Target.open(pid, "", Target.span("--timeout", timeout));
  }

  String given() {
    return pid;
  }
}
