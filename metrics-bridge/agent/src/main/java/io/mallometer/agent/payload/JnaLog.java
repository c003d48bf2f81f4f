package io.mallometer.agent.payload;

import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * A logger that drops everything. The agent's own copy of JNA uses it instead of {@link
 * java.util.logging.Logger}, which would initialize the application's logging. No failure is lost,
 * because JNA also throws each one that it logs. JNA fails with {@link NoSuchMethodError} if a
 * method that it calls is missing here.
 */
public final class JnaLog {

  private static final JnaLog SILENT = new JnaLog();

  private JnaLog() {}

  /** Returns the same logger for every name. */
  public static JnaLog getLogger(String unused) {
    return SILENT;
  }

  /** Returns false, because nothing is logged. */
  public boolean isLoggable(Level unused) {
    return false;
  }

  /** Drops the message. */
  public void log(Level unused, String message) {}

  /** Drops the message. */
  public void log(Level unused, String message, @Nullable Object parameter) {}

  /** Drops the message. */
  public void log(Level unused, String message, Object[] parameters) {}

  /** Drops the message; JNA throws the exception too. */
  public void log(Level unused, String message, Throwable thrown) {}
}
