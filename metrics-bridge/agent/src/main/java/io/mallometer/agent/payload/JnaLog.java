package io.mallometer.agent.payload;

import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * Replaces {@link java.util.logging.Logger} in the agent's JNA and has the methods that JNA calls.
 * JNA also throws each failure that it logs, and the bridge explains it. If a method is missing
 * here, JNA fails with {@link NoSuchMethodError}.
 */
public final class JnaLog {

  private static final JnaLog SILENT = new JnaLog();

  private JnaLog() {}

  /** Returns the logger for any name. */
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
