package io.mallometer.agent.payload;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pushes metrics by OTLP. The exporter is not part of the agent. Its jars are loaded by a separate
 * class loader, so that the application may use another version of OpenTelemetry.
 */
final class OtlpPush {

  private static final String PACKAGE = "io.mallometer.agent.payload.otlp.";

  private OtlpPush() {}

  /**
   * The receiver and the exporter.
   *
   * @param url the address of the receiver
   * @param path the directory with the exporter's jars
   * @param interval the time between two pushes
   * @param headers the headers of each request
   * @param attributes the attributes of the resource
   * @param certificates a file with the only trusted certificates; null for those of the JVM
   */
  record Options(
      String url,
      Path path,
      Duration interval,
      Map<String, String> headers,
      Map<String, String> attributes,
      @Nullable Path certificates) {

    /**
     * Reads the settings. Throws an {@code IllegalArgumentException} if the option for the
     * directory is not set.
     */
    static Options of(MallometerOptions settings) {
      return new Options(
          settings.get(Setting.OTLP_URL),
          settings
              .find(Setting.OTLP_PATH)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "otlp.path is missing: set it to the directory with the jars of"
                              + " OpenTelemetry's exporter")),
          settings.get(Setting.OTLP_INTERVAL),
          settings.get(Setting.OTLP_HEADERS),
          settings.get(Setting.OTLP_ATTRIBUTES),
          settings.find(Setting.OTLP_CERTIFICATES).orElse(null));
    }
  }

  /**
   * Begins to push, and returns a handle that ends the push.
   *
   * @throws IOException with the reason, if the exporter is missing
   */
  static AutoCloseable start(Mallometer mallometer, Options options) throws IOException {
    try {
      Object started =
          new Loader(jars(options.path()))
              .loadClass(PACKAGE + "OtlpMetrics")
              .getMethod(
                  "start",
                  Mallometer.class,
                  String.class,
                  Duration.class,
                  Map.class,
                  Map.class,
                  Path.class)
              .invoke(
                  null,
                  mallometer,
                  options.url(),
                  options.interval(),
                  options.headers(),
                  options.attributes(),
                  options.certificates());
      return (AutoCloseable) started;
    } catch (InvocationTargetException e) {
      throw new IOException(reason(options, e.getCause()), e);
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new IOException(reason(options, e), e);
    }
  }

  private static String reason(Options options, @Nullable Throwable e) {
    return e instanceof LinkageError
        ? options.path() + " lacks a jar of OpenTelemetry's exporter: " + e.getMessage()
        : String.valueOf(e);
  }

  private static URL[] jars(Path directory) throws IOException {
    List<URL> jars = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*.jar")) {
      for (Path jar : files) {
        jars.add(jar.toUri().toURL());
      }
    }
    return jars.toArray(new URL[0]);
  }

  /**
   * Loads the exporter and the agent's classes that use the exporter. The parent class loader
   * cannot link these classes, because it does not see the exporter.
   */
  private static final class Loader extends URLClassLoader {

    Loader(URL[] jars) {
      super("mallometer-otlp", jars, OtlpPush.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(PACKAGE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        @Nullable Class<?> known = findLoadedClass(name);
        return known == null ? define(name) : known;
      }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      String file = name.replace('.', '/') + ".class";
      try (InputStream in = getParent().getResourceAsStream(file)) {
        if (in == null) {
          throw new ClassNotFoundException(name);
        }
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}
