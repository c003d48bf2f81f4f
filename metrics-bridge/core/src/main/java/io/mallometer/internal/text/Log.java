package io.mallometer.internal.text;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A logger that never throws, so that a failed log message ends no thread of mallometer. The JDK's
 * logger is looked up when a message is logged, not earlier: the first look-up starts the JDK's
 * logging, which takes 10 ms, and some servers must configure logging before that. Thread-safe.
 */
public final class Log {

  /** The log of all code except for the outputs of metrics, such as JMX and the page. */
  public static final Log MALLOMETER = new Log("io.mallometer.Mallometer");

  private final String name;

  private Log(String name) {
    this.name = name;
  }

  public static Log of(Class<?> type) {
    return new Log(type.getName());
  }

  /** Logs a message for the operator, at level WARNING. */
  public void warn(String message, @Nullable Throwable cause) {
    log(Level.WARNING, message, cause);
  }

  /** Logs a message for the operator, at level WARNING. */
  public void warn(String message) {
    log(Level.WARNING, message, null);
  }

  /** Logs an action, at level INFO. */
  public void info(String message) {
    log(Level.INFO, message, null);
  }

  /** Logs a message that helps to find faults, at level DEBUG. */
  public void debug(String message, @Nullable Throwable cause) {
    log(Level.DEBUG, message, cause);
  }

  public void log(Level level, String message, @Nullable Throwable cause) {
    try {
      System.getLogger(name).log(level, message, cause);
    } catch (Throwable ignored) {
      return;
    }
  }

  /** Returns a warning that is logged only once. */
  public Once once() {
    return new Once(this);
  }

  /**
   * A warning that is logged only once, because a failure that repeats each second would fill the
   * log.
   */
  public static final class Once {

    private final Log log;
    private final AtomicBoolean logged = new AtomicBoolean();

    private Once(Log log) {
      this.log = log;
    }

    /** Logs the warning, unless it was logged since the latest {@link #rearm()}. */
    public void warn(String message, @Nullable Throwable cause) {
      if (logged.compareAndSet(false, true)) {
        log.warn(message, cause);
      }
    }

    /** Lets the next warning be logged. */
    public void rearm() {
      logged.set(false);
    }
  }
}
