package io.mallometer.agent;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Runs many commands of the agent's jar in one JVM, which takes less CPU time than a JVM each. */
public final class ManyCommands {

  /** Separates the words of a command. */
  static final String SEPARATOR = "\t";

  /** Follows the output of a command, and precedes its exit code. */
  static final char END = '\0';

  /** A property that a command sets for its own time limit, unless it is set. */
  private static final String ATTACH_TIMEOUT = "sun.tools.attach.attachTimeout";

  private ManyCommands() {}

  /** Runs the commands in the lines of standard input. The argument is the agent's version. */
  public static void main(String[] arguments) throws Exception {
    Payload commands = Payload.loadCommands();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      List<String> words = line.isEmpty() ? List.of() : List.of(line.split(SEPARATOR, -1));
      int exitCode = commands.run(words, arguments[0]);
      System.clearProperty(ATTACH_TIMEOUT);
      System.out.println(END + Integer.toString(exitCode));
    }
  }
}
