package io.mallometer.agent;

import java.io.IOException;
import java.util.List;

/** A program that is run with the library preloaded, in our place as far as Java can do that. */
final class PreloadedProgram {

  private static final String VARIABLE = "LD_PRELOAD";

  private PreloadedProgram() {}

  /**
   * Runs a program to its end. It has our standard input and outputs; SIGTERM and SIGINT to us end
   * it first, and we exit as it does.
   *
   * @param library the library's path
   * @return the program's exit code
   * @throws IOException if it cannot be started
   */
  static int run(List<String> command, String library) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().merge(VARIABLE, library, (others, ours) -> ours + ":" + others);
    Process program = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(program), "mallometer-signals"));
    return program.waitFor();
  }

  /** Runs when we are told to end, and also when the program has ended by itself. */
  private static void end(Process program) {
    if (program.isAlive()) {
      program.destroy();
      try {
        Runtime.getRuntime().halt(program.waitFor());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
