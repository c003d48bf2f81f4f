package io.mallometer.agent.payload;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Creates views from a {@code Mallometer} that the application has opened in another class loader,
 * for example through the Spring Boot starter. To create the views, this class opens a second
 * {@code Mallometer} in that class loader, and closes it immediately. The two share one poller, so
 * the views show the application's readings.
 */
final class ApplicationBridge {

  /**
   * The time without a reading after which the application's polling is considered stopped. The
   * default polling interval is 5 s.
   */
  private static final Duration FRESH = Duration.ofMinutes(2);

  private static final String PACKAGE = "io.mallometer.";

  private final Object views;
  private final Instant since;

  private ApplicationBridge(Object views, Instant since) {
    this.views = views;
    this.since = since;
  }

  /**
   * Returns the application's {@code Mallometer} whose history begins earliest; empty if none is
   * polling.
   *
   * @param loaders class loaders in which a {@code Mallometer} is open
   */
  static Optional<ApplicationBridge> of(List<ClassLoader> loaders) {
    return loaders.stream()
        .flatMap(loader -> of(loader).stream())
        .min(Comparator.comparing(bridge -> bridge.since));
  }

  private static Optional<ApplicationBridge> of(ClassLoader loader) {
    try {
      Class<?> facade = loader.loadClass(PACKAGE + "Mallometer");
      Object opened = called(facade, "open", null);
      try {
        Object history =
            called(
                loader.loadClass(facade.getName() + "$History"),
                "points",
                called(facade, "history", opened));
        List<?> points = (List<?>) history;
        if (points.isEmpty()
            || time(points.get(points.size() - 1)).isBefore(Instant.now().minus(FRESH))) {
          return Optional.empty();
        }
        called(facade, "poll", opened);
        Class<?> views = loader.loadClass(PACKAGE + "view.Views");
        return Optional.of(
            new ApplicationBridge(
                views.getConstructor(facade).newInstance(opened), time(points.get(0))));
      } finally {
        called(facade, "close", opened);
      }
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      // The application's Mallometer has another version or is not accessible, so the agent opens
      // its own.
      return Optional.empty();
    }
  }

  private static Instant time(Object point) throws ReflectiveOperationException {
    return (Instant) called(point.getClass(), "time", point);
  }

  record Reply(int status, String type, Writing writer) {}

  @FunctionalInterface
  interface Writing {
    void to(OutputStream out) throws IOException;
  }

  Reply root(String type) throws IOException {
    Object view = asked("nativeMemory");
    return new Reply(200, type, out -> write("view.View", "write", view, out));
  }

  Reply answer(String name, Map<String, String> parameters) throws IOException {
    return reply(asked("answer", name, parameters));
  }

  /** Returns the evidence bundle (a zip), without the settings that only the application knows. */
  Reply evidence() throws IOException {
    return reply(asked("evidence", Map.of()));
  }

  private Reply reply(Object answer) throws IOException {
    try {
      Class<?> type = type("view.Answer");
      Object outcome = called(type, "outcome", answer);
      Object body = called(type, "body", answer);
      return new Reply(
          (Integer) called(outcome.getClass(), "status", outcome),
          (String) called(type, "contentType", answer),
          out -> write("view.Answer$Body", "writeTo", body, out));
    } catch (ReflectiveOperationException e) {
      throw failed(e);
    }
  }

  private Object asked(String method, Object... arguments) throws IOException {
    try {
      Class<?>[] types =
          Stream.of(arguments)
              .map(argument -> argument instanceof Map ? Map.class : argument.getClass())
              .toArray(Class<?>[]::new);
      return Objects.requireNonNull(
          views.getClass().getMethod(method, types).invoke(views, arguments));
    } catch (ReflectiveOperationException e) {
      throw failed(e);
    }
  }

  private void write(String type, String method, Object what, OutputStream out) throws IOException {
    try {
      type(type).getMethod(method, OutputStream.class).invoke(what, out);
    } catch (ReflectiveOperationException e) {
      throw failed(e);
    }
  }

  private Class<?> type(String name) throws ClassNotFoundException {
    return views.getClass().getClassLoader().loadClass(PACKAGE + name);
  }

  private static Object called(Class<?> type, String method, Object target)
      throws ReflectiveOperationException {
    return type.getMethod(method).invoke(target);
  }

  private static IOException failed(ReflectiveOperationException e) {
    Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
    return new IOException("the application's own mallometer does not answer: " + cause, cause);
  }
}
