package io.mallometer.agent;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** An application that replaces standard error and continues to run. */
public final class HasItsOwnErrors {

  private HasItsOwnErrors() {}

  /**
   * Replaces standard error by a buffer. Prints 1 s after the agent's start what the agent has
   * written to the buffer.
   */
  public static void main(String[] arguments) throws InterruptedException {
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    System.setErr(new PrintStream(errors, true));
    while (!LoadsNativeCode.hasStarted()) {
      Thread.sleep(5);
    }
    Thread.sleep(1_000);
    System.out.println("own errors=" + errors);
  }
}
