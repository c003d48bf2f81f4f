package io.mallometer.agent.command;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

/**
 * Shows on a terminal that something takes its time, and leaves no trace. Anything but a terminal
 * gets nothing. A thread of its own draws, so that what waits need not care.
 */
final class Progress {

  private static final int WIDTH = 30;
  private static final int STEP_MILLIS = 200;

  /** Shorter than this, nobody wants to see it. */
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

  /** For what takes nobody knows how long. */
  static Progress begin(String what) {
    return new Progress(what, Double.NaN);
  }

  /** For what takes as long as was asked for. */
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

  /** The line goes. */
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
