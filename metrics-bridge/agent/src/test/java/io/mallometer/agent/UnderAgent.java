package io.mallometer.agent;

import io.mallometer.program.DeflaterLeak;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A program that leaks, in a JVM of its own with the library and the agent. */
final class UnderAgent {

  private UnderAgent() {}

  /**
   * Starts the program with these options of the agent and further options of the JVM. Its output
   * goes to the file {@code output} in the directory.
   */
  static Process start(Path directory, String options, String... more) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Stream.of(
                        Stream.of(CommandRuns.JAVA),
                        CommandRuns.SHORT_LIVED.stream(),
                        Stream.of(more),
                        Stream.of(
                            "-javaagent:" + System.getProperty("agent.jar") + "=" + options,
                            "-cp",
                            "target/test-classes",
                            DeflaterLeak.class.getName()))
                    .flatMap(arguments -> arguments)
                    .toList())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("output").toFile());
    builder.environment().put("LD_PRELOAD", System.getProperty("library"));
    builder.environment().put("XDG_CACHE_HOME", directory.toString());
    return builder.start();
  }
}
