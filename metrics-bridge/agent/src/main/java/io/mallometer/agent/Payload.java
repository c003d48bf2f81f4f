package io.mallometer.agent;

import java.lang.reflect.InvocationTargetException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The functions behind the isolated class loader. */
final class Payload {

  private static final String ENTRY = "io.mallometer.agent.payload.Entry";

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

  /** Starts polling and the MBean; returns why nothing is counted, or an empty text. */
  String start() throws Exception {
    return (String) Objects.requireNonNull(call("start", new Class<?>[0]));
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
