package io.mallometer.agent;

/** An application that loads native code, given as an argument, after the agent did. */
public final class LoadsNativeCode {

  private LoadsNativeCode() {}

  /** Runs. */
  public static void main(String[] arguments) throws InterruptedException {
    while (!polls()) {
      Thread.sleep(5);
    }
    System.load(arguments[0]);
    System.out.println("main ends");
  }

  /** Whether the bridge runs. */
  static boolean polls() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("mallometer-poller"));
  }
}
