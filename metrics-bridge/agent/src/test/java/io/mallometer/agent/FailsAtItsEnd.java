package io.mallometer.agent;

/**
 * An application in which the agent reports one failure while it runs, and one in a shutdown hook.
 */
public final class FailsAtItsEnd {

  private FailsAtItsEnd() {}

  public static void main(String[] arguments) {
    Runtime.getRuntime().addShutdownHook(new Thread(FailsAtItsEnd::end));
    Start.say("fails while it runs");
  }

  private static void end() {
    Start.say("fails while it ends");
    System.out.println("the hook ends");
  }
}
