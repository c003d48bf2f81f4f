package io.mallometer.agent.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Attaches the library to a running JVM. */
@Command(
    name = "attach",
    description = {
      "Makes a JVM that was started without the library count native memory from now on, until"
          + " detach or its end.",
      "Earlier allocations are known only as a sum. The command refuses a JVM with"
          + " MALLOMETER_ATTACH=off in its environment."
    })
final class AttachCommand implements Callable<Integer> {

  @Mixin private TargetProcess target = new TargetProcess();

  @Override
  public Integer call() throws Exception {
    try (Source source = target.open()) {
      Json counting = source.post("attach").json();
      Output out = Output.standard();
      boolean attached = counting.at("mode").text().equals("attached");
      out.line(
          source.name()
              + " "
              + counting.at("sentence").text()
              + (attached ? "" : ", from its start on"));
      out.line("next: " + Commands.called() + " top " + target.given()).flush();
    }
    return ExitCode.OK;
  }
}
