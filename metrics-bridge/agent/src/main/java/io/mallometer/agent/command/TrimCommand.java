package io.mallometer.agent.command;

import io.mallometer.internal.text.HumanText;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Asks the allocator of a process to return memory to the system. */
@Command(
    name = "trim",
    description = {
      "Asks the allocator of a JVM to return free memory to the system, and prints how much came"
          + " back.",
      "Threads that allocate may wait during the trim. Over http the agent needs its option"
          + " allow-trim=true."
    })
final class TrimCommand implements Callable<Integer> {

  @Mixin private Target target = new Target();

  @Override
  public Integer call() throws Exception {
    try (Source source = target.open()) {
      Json trim = trimmed(source);
      Output out = Output.standard();
      out.line(trim.at("explanation").text());
      out.line(
          String.format(
              Locale.ROOT,
              "resident %s before, %s after: %s, in %.2f s",
              HumanText.bytes(trim.at("residentBeforeBytes").number()),
              HumanText.bytes(trim.at("residentAfterBytes").number()),
              HumanText.change(-trim.at("returnedBytes").number()),
              trim.at("seconds").number()));
      out.flush();
    }
    return ExitCode.OK;
  }

  private static Json trimmed(Source source) throws Exception {
    Progress progress = Progress.begin("trimming");
    try {
      return source.post("trim").json();
    } finally {
      progress.end();
    }
  }
}
