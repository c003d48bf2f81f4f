package io.mallometer.agent;

import java.util.Arrays;

/** An application that loads native code, given as an argument, after the agent did. */
public final class LoadsNativeCode {

  private LoadsNativeCode() {}

  /** Runs. */
  public static void main(String[] arguments) throws InterruptedException {
    while (!hasStarted()) {
      Thread.sleep(5);
    }
    System.load(arguments[0]);
    System.out.println("main ends");
  }

  /** Whether the agent has printed its line, and waits until somebody uses JMX. */
  static boolean hasStarted() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().endsWith(".LateRegistration"));
  }
}
