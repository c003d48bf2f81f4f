package io.mallometer.agent.command;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/** Runs a program with the library preloaded. */
final class PreloadedProgram {

  private PreloadedProgram() {}

  /**
   * Runs a program until it ends, and returns its exit code. The program inherits standard input,
   * output and error. When this process gets SIGTERM or SIGINT, a shutdown hook ends the program,
   * and this process exits with the program's code.
   *
   * @param variables the environment variables to add for the program
   */
  static int run(List<String> command, Map<String, String> variables)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().putAll(variables);
    // The hook is registered first. Otherwise a signal just after the program's start would end
    // this process and leave the program running.
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

  /**
   * Ends the program if it is running. The shutdown hook also calls this method after the program
   * has ended or failed to start.
   */
  private static void end(CompletableFuture<Process> starting) {
    try {
      Process program = starting.join();
      if (program.isAlive()) {
        program.destroy();
        Runtime.getRuntime().halt(program.waitFor());
      }
    } catch (CancellationException e) {
      // The program could not be started.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
