package io.mallometer.agent;

import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The functions behind the isolated class loader. */
final class Payload {

  private static final String ENTRY = "io.mallometer.agent.payload.Entry";

  private static final String UNREADABLE_BOX = "io.mallometer.history.UnreadableBoxException";

  private final Class<?> entry;

  private Payload(Class<?> entry) {
    this.entry = entry;
  }

  /** Loads the payload into a class loader of its own. */
  static Payload load() throws Exception {
    return new Payload(PayloadLoader.open().loadClass(ENTRY));
  }

  /** Unpacks the library into a directory, or where it is private if that is empty. */
  String extract(String directory) throws Exception {
    return (String)
        Objects.requireNonNull(call("extract", new Class<?>[] {String.class}, directory));
  }

  /** What a black box recorded, as text. */
  String report(String file) throws Exception {
    return (String) Objects.requireNonNull(call("report", new Class<?>[] {String.class}, file));
  }

  /** Whether {@link #report} failed because of what is in the file. */
  static boolean isUnreadableBox(Exception failure) {
    return failure.getClass().getName().equals(UNREADABLE_BOX);
  }

  /**
   * Starts polling, the MBean, and a recording if the path is not empty; returns why nothing is
   * counted, or an empty text.
   */
  String start(String record) throws Exception {
    return (String) Objects.requireNonNull(call("start", new Class<?>[] {String.class}, record));
  }

  /** Serves Prometheus' formats. */
  void serve(String host, int port) throws Exception {
    call("serve", new Class<?>[] {String.class, int.class}, host, port);
  }

  private @Nullable Object call(String method, Class<?>[] types, Object... arguments)
      throws Exception {
    try {
      return entry.getMethod(method, types).invoke(null, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }
}
