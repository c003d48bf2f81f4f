package io.mallometer.internal.text;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A logger that never throws, so that a failed message cannot end a thread. Thread-safe.
 *
 * <p>The JDK's logger is looked up only at the first message. The look-up initializes the JDK's
 * logging, which some servers must configure first.
 */
public final class Log {

  /** The log of all code except the JFR, JMX and Micrometer outputs, which have their own. */
  public static final Log MALLOMETER = new Log("io.mallometer.Mallometer");

  private final String name;

  private Log(String name) {
    this.name = name;
  }

  public static Log of(Class<?> type) {
    return new Log(type.getName());
  }

  public void warn(String message, @Nullable Throwable cause) {
    log(Level.WARNING, message, cause);
  }

  public void warn(String message) {
    log(Level.WARNING, message, null);
  }

  public void info(String message) {
    log(Level.INFO, message, null);
  }

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

  public Once once() {
    return new Once(this);
  }

  /** A warning that is logged once, so that a failure in each second does not fill the log. */
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

    public void rearm() {
      logged.set(false);
    }
  }
}
