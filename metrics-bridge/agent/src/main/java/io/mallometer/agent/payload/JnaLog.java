package io.mallometer.agent.payload;

import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * What our JNA takes for {@link java.util.logging.Logger}, with the methods that it calls; its
 * failures are thrown as well, and what they mean is the bridge's to say. Tested by whether JNA
 * works: a method that is missing here is a {@link NoSuchMethodError}.
 */
public final class JnaLog {

  private static final JnaLog SILENT = new JnaLog();

  private JnaLog() {}

  /** There is one for all names. */
  public static JnaLog getLogger(String unused) {
    return SILENT;
  }

  /** Never. */
  public boolean isLoggable(Level unused) {
    return false;
  }

  /** Says nothing. */
  public void log(Level unused, String message) {}

  /** Says nothing. */
  public void log(Level unused, String message, @Nullable Object parameter) {}

  /** Says nothing. */
  public void log(Level unused, String message, Object[] parameters) {}

  /** Says nothing. */
  public void log(Level unused, String message, Throwable thrown) {}
}
