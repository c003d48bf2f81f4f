package io.mallometer.agent;

/**
 * An application that needs only java.base and runs for 1 s, about as long as the agent's start.
 */
public final class LivedASecond {

  private LivedASecond() {}

  public static void main(String[] arguments) throws InterruptedException {
    Thread.sleep(1_000);
    System.out.println("main ends");
  }
}
