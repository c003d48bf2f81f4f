package io.mallometer.agent.command;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

/**
 * Shows the progress of a command in one line on standard error, and removes the line afterwards.
 * Prints nothing if this process has no console. A thread of its own draws the line.
 */
final class Progress {

  private static final int WIDTH = 30;
  private static final int STEP_MILLIS = 200;

  /** The time before the progress line appears. A shorter command shows none. */
  private static final int FIRST_MILLIS = 400;

  private static final String CLEAR = "\r\u001b[K";

  private final String what;
  private final double expectedSeconds;
  private final long began = System.nanoTime();
  private final PrintStream terminal = System.err;
  private final Thread thread = new Thread(this::draw, "mallometer-progress");
  private volatile boolean done;

  private Progress(String what, double expectedSeconds) {
    this.what = what;
    this.expectedSeconds = expectedSeconds;
    thread.setDaemon(true);
    if (System.console() != null) {
      thread.start();
    }
  }

  static Progress begin(String what) {
    return new Progress(what, Double.NaN);
  }

  static Progress begin(String what, Duration expected) {
    return new Progress(what, expected.toMillis() / 1e3);
  }

  private void draw() {
    boolean drawn = false;
    try {
      Thread.sleep(FIRST_MILLIS);
      while (!done) {
        terminal.print(CLEAR + line());
        terminal.flush();
        drawn = true;
        Thread.sleep(STEP_MILLIS);
      }
    } catch (InterruptedException e) {
      done = true;
    }
    if (drawn) {
      terminal.print(CLEAR);
      terminal.flush();
    }
  }

  private String line() {
    double seconds = (System.nanoTime() - began) / 1e9;
    if (Double.isNaN(expectedSeconds)) {
      return String.format(Locale.ROOT, "%s ... %.0f s", what, seconds);
    }
    int filled = (int) Math.min(WIDTH, WIDTH * seconds / expectedSeconds);
    return String.format(
        Locale.ROOT,
        "%s [%s%s] %.0f of %.0f s",
        what,
        "#".repeat(filled),
        ".".repeat(WIDTH - filled),
        seconds,
        expectedSeconds);
  }

  void end() {
    done = true;
    thread.interrupt();
    try {
      thread.join(STEP_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
