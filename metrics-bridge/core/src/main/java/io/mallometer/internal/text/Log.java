package io.mallometer.internal.text;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A logger that never throws, because no thread of mallometer may end by it. The JDK's logger is
 * looked up when there is something to say: that starts the JDK's logging, which takes 10 ms, and
 * which a server may want to set up first. Thread-safe.
 */
public final class Log {

  /** The log of everything that belongs to no face. */
  public static final Log MALLOMETER = new Log("io.mallometer.Mallometer");

  private final String name;

  private Log(String name) {
    this.name = name;
  }

  /** Returns the log of a class. */
  public static Log of(Class<?> type) {
    return new Log(type.getName());
  }

  /** Logs what an operator should know. */
  public void warn(String message, @Nullable Throwable cause) {
    log(Level.WARNING, message, cause);
  }

  /** Logs what an operator should know. */
  public void warn(String message) {
    log(Level.WARNING, message, null);
  }

  /** Logs what was done. */
  public void info(String message) {
    log(Level.INFO, message, null);
  }

  /** Logs what only a search for a fault needs. */
  public void debug(String message, @Nullable Throwable cause) {
    log(Level.DEBUG, message, cause);
  }

  /** Logs at a level. */
  public void log(Level level, String message, @Nullable Throwable cause) {
    try {
      System.getLogger(name).log(level, message, cause);
    } catch (Throwable ignored) {
      return;
    }
  }

  /** Returns a new warning that is logged the first time only. */
  public Once once() {
    return new Once(this);
  }

  /** A warning that is logged the first time only: what fails each second would fill the log. */
  public static final class Once {

    private final Log log;
    private final AtomicBoolean logged = new AtomicBoolean();

    private Once(Log log) {
      this.log = log;
    }

    /** Logs, unless it did since the latest {@link #rearm()}. */
    public void warn(String message, @Nullable Throwable cause) {
      if (logged.compareAndSet(false, true)) {
        log.warn(message, cause);
      }
    }

    /** The next warning is logged again. */
    public void rearm() {
      logged.set(false);
    }
  }
}
