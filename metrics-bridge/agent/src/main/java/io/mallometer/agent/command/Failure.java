package io.mallometer.agent.command;

/** Why a command ends: one line with what to do about it, and the exit code. */
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
