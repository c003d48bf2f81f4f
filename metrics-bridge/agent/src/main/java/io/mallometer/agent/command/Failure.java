package io.mallometer.agent.command;

/** Ends a command with one line, which says what to do, and with an exit code. */
final class Failure extends Exception {

  private static final long serialVersionUID = 1;

  private final int exitCode;

  Failure(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
