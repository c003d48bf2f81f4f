package io.mallometer.agent;

import java.util.Set;
import java.util.stream.Collectors;

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

  /** Whether the bridge runs, and the agent has said so. */
  static boolean polls() {
    Set<String> names =
        Thread.getAllStackTraces().keySet().stream()
            .map(Thread::getName)
            .collect(Collectors.toSet());
    return names.contains("mallometer-poller") && !names.contains("mallometer-start");
  }
}
