package io.mallometer.junit;

import io.mallometer.leaks.Invocations;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;

/** The program of each JVM of {@code bin/soak junit}. */
final class SoakMain {

  private SoakMain() {}

  public static void main(String[] arguments) {
    List<Engine.Ended> ended = Engine.all(Invocations.class, Map.of());
    for (String kind : List.of("clean", "leak")) {
      List<TestExecutionResult> results = new ArrayList<>();
      for (Engine.Ended test : ended) {
        if (test.method().equals(kind)) {
          results.add(test.result());
        }
      }
      long failed = results.stream().filter(result -> result.getStatus() == Status.FAILED).count();
      System.out.printf("%s %d of %d failed%n", kind, failed, results.size());
      for (TestExecutionResult result : results) {
        boolean wrong = kind.equals("leak") != (result.getStatus() == Status.FAILED);
        if (wrong) {
          System.out.println(
              "WRONG " + result.getThrowable().map(Throwable::getMessage).orElse(""));
        }
      }
    }
    System.exit(0);
  }
}
