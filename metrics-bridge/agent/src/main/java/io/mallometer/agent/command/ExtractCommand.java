package io.mallometer.agent.command;

import io.mallometer.internal.library.load.BundledLibrary;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Unpacks the library, for example into the image of a container. */
@Command(
    name = "extract",
    description = "Unpacks the library for this platform into DIR and prints its path.")
final class ExtractCommand implements Callable<Integer> {

  @Parameters(paramLabel = "DIR", description = "the directory; created if it is missing")
  private Path directory = Path.of("");

  @Override
  public Integer call() throws Exception {
    Output out = Output.standard();
    out.line(BundledLibrary.extract(directory).toString()).flush();
    return ExitCode.OK;
  }
}
