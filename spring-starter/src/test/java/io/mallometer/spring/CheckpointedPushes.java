package io.mallometer.spring;

import io.mallometer.FakeMallometer;
import io.mallometer.SimulatedCheckpoints;
import org.springframework.context.ConfigurableApplicationContext;

public final class CheckpointedPushes {

  private CheckpointedPushes() {}

  /**
   * Prints whether the thread that pushes exists: before, during and after the checkpoint, and
   * after the context has closed.
   */
  public static void main(String[] arguments) throws Exception {
    try (ConfigurableApplicationContext context =
        Contexts.with(new FakeMallometer()).run("--mallometer.push.url=http://localhost:1")) {
      System.out.println("before: " + (context.isActive() && pushing()));
      SimulatedCheckpoints.begin();
      System.out.println("meanwhile: " + pushing());
      SimulatedCheckpoints.end();
      System.out.println("after: " + pushing());
    }
    System.out.println("at the end: " + pushing());
  }

  private static boolean pushing() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("mallometer-push"));
  }
}
