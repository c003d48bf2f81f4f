package io.mallometer.agent.payload;

import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for {@link java.util.logging.Logger} in the agent's own copy of JNA, with the methods
 * that JNA calls, so that the agent does not initialize the application's logging. JNA also throws
 * each failure that it logs. If a method is missing here, JNA fails with {@link NoSuchMethodError}.
 */
public final class JnaLog {

  private static final JnaLog SILENT = new JnaLog();

  private JnaLog() {}

  /** Returns the same logger for every name. */
  public static JnaLog getLogger(String unused) {
    return SILENT;
  }

  /** Returns false. */
  public boolean isLoggable(Level unused) {
    return false;
  }

  /** Does nothing. */
  public void log(Level unused, String message) {}

  /** Does nothing. */
  public void log(Level unused, String message, @Nullable Object parameter) {}

  /** Does nothing. */
  public void log(Level unused, String message, Object[] parameters) {}

  /** Does nothing. */
  public void log(Level unused, String message, Throwable thrown) {}
}
