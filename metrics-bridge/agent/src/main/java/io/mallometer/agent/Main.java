package io.mallometer.agent;

import java.util.Arrays;

/** {@code java -jar mallometer-agent.jar COMMAND}; {@code --help} says which there are. */
public final class Main {

  private static final int FAILURE = 1;

  private Main() {}

  /** Runs a command and exits. */
  public static void main(String[] arguments) {
    System.exit(run(arguments));
  }

  private static int run(String... arguments) {
    try {
      return Payload.loadCommands().run(Arrays.asList(arguments), Version.text());
    } catch (Exception | Error e) {
      System.err.println("mallometer: " + Agent.reason(e));
      return FAILURE;
    }
  }
}
