package io.mallometer.agent;

import java.util.Arrays;

/** An application that loads a native library after the agent has loaded its own. */
public final class LoadsNativeCode {

  private LoadsNativeCode() {}

  public static void main(String[] arguments) throws InterruptedException {
    while (!hasStarted()) {
      Thread.sleep(5);
    }
    System.load(arguments[0]);
    System.out.println("main ends");
  }

  /** Returns whether the agent has printed its message and waits for the first use of JMX. */
  static boolean hasStarted() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(frame -> frame.getClassName().endsWith(".LateRegistration"));
  }
}
