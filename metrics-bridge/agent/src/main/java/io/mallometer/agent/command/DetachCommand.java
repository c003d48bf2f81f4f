package io.mallometer.agent.command;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Detaches the library, whether {@link AttachCommand}, an agent or the Spring Boot starter attached
 * it.
 */
@Command(
    name = "detach",
    description =
        "Ends counting that began with an attach by any tool, and with it the counters. A"
            + " preloaded library counts until the process ends.")
final class DetachCommand implements Callable<Integer> {

  @Mixin private TargetProcess target = new TargetProcess();

  @Override
  public Integer call() throws Exception {
    try (Source source = target.open()) {
      Json ended = source.post("detach").json();
      Output.standard()
          .line(source.name() + " is detached; it " + ended.at("sentence").text())
          .flush();
    }
    return ExitCode.OK;
  }
}
