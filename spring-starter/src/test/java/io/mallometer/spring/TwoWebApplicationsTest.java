package io.mallometer.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Runs two applications in one JVM that share only the classes of the web server. Also runs
 * applications without optional libraries.
 */
@Tag("context")
@Tag("any-jdk")
class TwoWebApplicationsTest {

  private static final ClassLoader SERVER_LOADER = new ServerLoader();

  /** Matches the jars that {@link ServerLoader} provides. */
  private static final Predicate<String> SERVER =
      jar -> jar.matches("(tomcat-embed-|jakarta\\.).*");

  @Test
  @Tag("application")
  @EnabledIf("io.mallometer.spring.Matrix#servletPreloaded")
  void eachHasItsMetersAndTheyShareOneMBean() throws Exception {
    try (RunningApplication first = RunningApplication.start()) {
      try (Isolated second = Isolated.start(jar -> true)) {
        assertThat(first.scrape()).containsEntry("mallometer_active", 1.0);
        assertThat(counted(second.scrape())).isEqualTo(counted(first.scrape())).isNotEmpty();
        assertThat(mbeans()).isEqualTo(5);
      }
      assertThat(first.scrape()).containsEntry("mallometer_active", 1.0);
      assertThat(mbeans()).isEqualTo(5);
    }
    assertThat(mbeans()).isZero();
  }

  /**
   * Returns the series that exist from the start. Other series appear at an application's first
   * poll, which the test does not await.
   */
  private static Set<String> counted(Map<String, Double> scrape) {
    return scrape.keySet().stream()
        .filter(series -> series.matches("(native_malloc|mallometer)_.*"))
        .filter(series -> !series.matches("native_malloc_(library|site|leak)_.*"))
        .filter(series -> !series.matches("mallometer_(snapshot_age|time_to_limit)_seconds.*"))
        .collect(Collectors.toSet());
  }

  @Test
  void startsWithoutActuatorMicrometerAndPrometheus() throws Exception {
    try (Isolated application =
        Isolated.start(
            jar ->
                !jar.matches(
                    "(spring-boot-(actuator|micrometer)|micrometer-(core|registry)|prometheus).*"))) {
      assertThat(application.has("io.mallometer.Mallometer")).isTrue();
      assertThat(application.has("io.micrometer.core.instrument.MeterRegistry")).isFalse();
      assertThat(mbeans()).isEqualTo(5);
    }
  }

  @Test
  void startsWithoutTheWeb() throws Exception {
    try (Isolated application =
        Isolated.start(
            jar ->
                !jar.matches("(spring-web|spring-boot-(web|tomcat|servlet)|tomcat|reactor).*"))) {
      assertThat(application.has("org.springframework.web.context.WebApplicationContext"))
          .isFalse();
      assertThat(mbeans()).isEqualTo(5);
    }
  }

  /**
   * Gives all applications the same classes of the JDK and of the server, because these can be
   * loaded only once in a JVM.
   */
  private static final class ServerLoader extends ClassLoader {

    ServerLoader() {
      super("server", ClassLoader.getPlatformClassLoader());
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      if (!name.matches("(jakarta|org\\.apache\\.(catalina|coyote|el|juli|naming|tomcat))\\..*")) {
        throw new ClassNotFoundException(name);
      }
      return TwoWebApplicationsTest.class.getClassLoader().loadClass(name);
    }
  }

  private static int mbeans() throws Exception {
    return ManagementFactory.getPlatformMBeanServer()
        .queryNames(new ObjectName("io.mallometer:*"), null)
        .size();
  }

  private record Isolated(URLClassLoader loader, AutoCloseable application)
      implements AutoCloseable {

    static Isolated start(Predicate<String> jars) throws Exception {
      URLClassLoader loader =
          new URLClassLoader(
              "web application", classPath(SERVER.negate().and(jars)), SERVER_LOADER);
      Thread thread = Thread.currentThread();
      ClassLoader before = thread.getContextClassLoader();
      thread.setContextClassLoader(loader);
      try {
        Class<?> type = loader.loadClass(RunningApplication.class.getName());
        return new Isolated(
            loader,
            (AutoCloseable)
                type.getDeclaredMethod("start", String[].class)
                    .invoke(null, (Object) new String[0]));
      } finally {
        thread.setContextClassLoader(before);
      }
    }

    @SuppressWarnings("unchecked")
    Map<String, Double> scrape() throws Exception {
      return (Map<String, Double>)
          application.getClass().getDeclaredMethod("scrape").invoke(application);
    }

    boolean has(String type) {
      try {
        return loader.loadClass(type) != null;
      } catch (ClassNotFoundException e) {
        return false;
      }
    }

    @Override
    public void close() {
      try (loader) {
        application.close();
      } catch (Exception e) {
        throw new AssertionError("cannot close", e);
      }
    }
  }

  private static URL[] classPath(Predicate<String> jars) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(Path::of)
        .filter(entry -> jars.test(entry.getFileName().toString()))
        .map(TwoWebApplicationsTest::url)
        .toArray(URL[]::new);
  }

  private static URL url(Path file) {
    try {
      return file.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
