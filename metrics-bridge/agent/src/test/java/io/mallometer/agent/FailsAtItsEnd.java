package io.mallometer.agent;

/** An application whose agent fails to start, both while it runs and while it shuts down. */
public final class FailsAtItsEnd {

  private FailsAtItsEnd() {}

  /** Runs. */
  public static void main(String[] arguments) {
    Runtime.getRuntime().addShutdownHook(new Thread(FailsAtItsEnd::end));
    Start.say("fails while it runs");
  }

  private static void end() {
    Start.say("fails while it ends");
    System.out.println("the hook ends");
  }
}
