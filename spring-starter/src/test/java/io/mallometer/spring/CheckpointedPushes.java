package io.mallometer.spring;

import io.mallometer.FakeMallometer;
import io.mallometer.SimulatedCheckpoints;
import org.springframework.context.ConfigurableApplicationContext;

/** An application that pushes profiles, is checkpointed and restored. */
public final class CheckpointedPushes {

  private CheckpointedPushes() {}

  /**
   * Prints before, during and after the checkpoint, and after the context has closed, whether the
   * thread that pushes exists.
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
