package io.mallometer.agent.command;

/** With what the command line exits; part of its promise to scripts. */
final class ExitCode {

  static final int OK = 0;
  static final int FAILED = 1;
  static final int NOT_UNDERSTOOD = 2;
  static final int UNREADABLE = 3;
  static final int GONE = 4;
  static final int NOT_ALLOWED = 5;
  static final int NO_ANSWER = 6;
  static final int NOT_THERE = 7;

  /**
   * Not understood by the gates, of which 2 says that something is worse. As git has it; {@code git
   * bisect run} stops there.
   */
  static final int GATE_NOT_UNDERSTOOD = 129;

  /** As of a program that Ctrl-C ended. */
  static final int INTERRUPTED = 130;

  /** As of a program whose reader went away. */
  static final int CLOSED_PIPE = 141;

  /** For the help. */
  static final String[] MEANINGS = {
    "0:success",
    "1:failure",
    "2:the command was not understood",
    "3:the file is not a readable recording or report",
    "4:the process does not exist, is not a JVM, or ended during the command",
    "5:not allowed: the process belongs to another user, or the login is wrong",
    "6:no answer within the time limit",
    "7:not available in this process: it is not counted, cannot be attached to, or has another"
        + " version, or its environment has MALLOMETER_ENABLED=off or MALLOMETER_ATTACH=off",
    "130:interrupted by Ctrl-C",
    "141:the program that reads the output ended, as head does"
  };

  /** For the help of the gates. */
  static final String[] GATE_MEANINGS = {
    "0:equal, or success",
    "1:failure: a file, a baseline or the thresholds do not exist, or the disk is full",
    "2:at least one result is worse",
    "3:a file cannot be read, or a metric is missing, has another unit or no percentile to judge",
    "4:at least one result is better and none is worse",
    "129:the command was not understood",
    "130:interrupted by Ctrl-C",
    "141:the program that reads the output ended, as head does",
    "--bisect:0 equal or better, 1 worse, 125 not measured, or failure"
  };

  private ExitCode() {}
}
