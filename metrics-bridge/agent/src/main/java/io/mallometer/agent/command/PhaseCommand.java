package io.mallometer.agent.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "phase",
    description =
        "Ends the phase of a JVM that the previous phase command began, prints its counters, and"
            + " begins the next.")
final class PhaseCommand implements Callable<Integer> {

  @Mixin private TargetProcess target = new TargetProcess();

  @Option(
      names = "--begin",
      paramLabel = "NAME",
      defaultValue = "",
      description = "the name of the next phase; without it none begins")
  private String name = "";

  @Override
  public Integer call() throws Exception {
    try (Source source = target.open()) {
      Json ended = source.post(name.isEmpty() ? "phase" : "phase " + name).json();
      Output.standard().line(ended.at("sentence").text()).flush();
    }
    return ExitCode.OK;
  }
}
