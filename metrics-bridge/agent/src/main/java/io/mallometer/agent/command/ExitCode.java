package io.mallometer.agent.command;

import io.mallometer.internal.gate.Outcome;
import java.util.LinkedHashMap;
import java.util.Map;

/** The exit codes of the command line, which scripts rely on. */
final class ExitCode {

  static final int OK = 0;
  static final int FAILED = 1;
  static final int UNREADABLE = 3;
  static final int GONE = 4;
  static final int NOT_ALLOWED = 5;
  static final int NO_ANSWER = 6;
  static final int NOT_THERE = 7;

  /** The exit code for a command line that is not understood, EX_USAGE of sysexits.h. */
  static final int USAGE = 64;

  /**
   * The exit code for a command line that is not understood, with --bisect. "git bisect run" stops
   * only at codes from 128 on, and would take {@link #USAGE} for a bad commit.
   */
  static final int BISECT_USAGE = 129;

  /** The code that a shell reports for a program that Ctrl-C ended. */
  static final int INTERRUPTED = 130;

  /**
   * The code that a shell reports for a program that SIGPIPE ended, because the reader of its
   * output had ended.
   */
  static final int CLOSED_PIPE = 141;

  private ExitCode() {}

  static Map<String, String> meanings() {
    Map<String, String> all = new LinkedHashMap<>();
    put(all, OK, "success; of a comparison: the results are equal");
    put(
        all,
        FAILED,
        "failure, such as a file that does not exist or a full disk; of doctor: counting does not work");
    put(all, Outcome.WORSE.exitCode(), "of a comparison: at least one result is worse");
    put(
        all,
        UNREADABLE,
        "a file cannot be read as what it should be; of a comparison: nothing is worse, but a"
            + " metric was not measured, has another unit or no percentile to judge");
    put(
        all,
        GONE,
        "the process does not exist, is not a JVM, or ended during the command; of a comparison:"
            + " at least one result is better and none is worse");
    put(all, NOT_ALLOWED, "not allowed: the process is another user's, or the login is wrong");
    put(all, NO_ANSWER, "no answer within the time limit, or the process is stopped");
    put(
        all,
        NOT_THERE,
        "refused: the process is not counted, cannot be attached to, has another version, or has"
            + " MALLOMETER_ENABLED=off or MALLOMETER_ATTACH=off");
    put(all, USAGE, "the command was not understood");
    put(all, INTERRUPTED, "interrupted by Ctrl-C");
    put(all, CLOSED_PIPE, "the program that reads the output ended, as head does");
    all.put(
        "--bisect",
        "%d equal or better, %d worse, %d not measured or failure, %d not understood"
            .formatted(
                Outcome.BETTER.bisectCode(),
                Outcome.WORSE.bisectCode(),
                Outcome.NOT_MEASURED.bisectCode(),
                BISECT_USAGE));
    return all;
  }

  private static void put(Map<String, String> all, int code, String meaning) {
    all.put(String.valueOf(code), meaning);
  }
}
