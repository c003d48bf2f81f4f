package io.mallometer.agent;

/**
 * An application in which the agent reports a failure twice: while the application runs, and in a
 * shutdown hook.
 */
public final class FailsAtItsEnd {

  private FailsAtItsEnd() {}

  /** Reports the first failure and registers the hook. */
  public static void main(String[] arguments) {
    Runtime.getRuntime().addShutdownHook(new Thread(FailsAtItsEnd::end));
    Start.say("fails while it runs");
  }

  private static void end() {
    Start.say("fails while it ends");
    System.out.println("the hook ends");
  }
}
