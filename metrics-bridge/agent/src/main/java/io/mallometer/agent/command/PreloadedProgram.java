package io.mallometer.agent.command;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/** A program that is run with the library preloaded, in our place as far as Java can do that. */
final class PreloadedProgram {

  private PreloadedProgram() {}

  /**
   * Runs a program to its end. It has our standard input and outputs; SIGTERM and SIGINT to us end
   * it first, and we exit as it does.
   *
   * @param variables what to set in its environment
   * @return the program's exit code
   * @throws IOException if it cannot be started
   */
  static int run(List<String> command, Map<String, String> variables)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().putAll(variables);
    // Before the start, so that no signal falls between the two and leaves the program behind.
    CompletableFuture<Process> starting = new CompletableFuture<>();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(starting), "mallometer-signals"));
    try {
      Process program = builder.start();
      starting.complete(program);
      return program.waitFor();
    } finally {
      starting.cancel(false);
    }
  }

  /** Runs when we are told to end, and also when the program has ended by itself or never began. */
  private static void end(CompletableFuture<Process> starting) {
    try {
      Process program = starting.join();
      if (program.isAlive()) {
        program.destroy();
        Runtime.getRuntime().halt(program.waitFor());
      }
    } catch (CancellationException e) {
      // It could not be started; there is nothing to end.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
