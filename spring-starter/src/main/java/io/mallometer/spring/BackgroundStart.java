package io.mallometer.spring;

import io.mallometer.Mallometer;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Looks for the native library in parallel with the start of Spring Boot.
 *
 * <p>The first facade of a process costs up to a few hundred milliseconds: JNA unpacks and loads
 * its native part if the library is there, and the library is unpacked if it is not. All facades
 * share what the first one found. Opening one early, and closing it at once, saves the
 * application's own facade that time.
 *
 * <p>Compiled for Java 8, because {@code spring.factories} names it: see {@link SupportedVersions}.
 */
final class BackgroundStart implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {

  static final String THREAD = "mallometer-start";

  private static final String AOT_PROCESSING = "spring.aot.processing";

  @Override
  public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
    if (SupportedVersions.obstacle() == null && !Boolean.getBoolean(AOT_PROCESSING)) {
      Thread thread = new Thread(() -> openIfEnabled(event.getEnvironment()), THREAD);
      thread.setDaemon(true);
      thread.setContextClassLoader(BackgroundStart.class.getClassLoader());
      try {
        thread.start();
      } catch (OutOfMemoryError e) {
        return; // no thread is left; the application's own facade says so
      }
    }
  }

  /**
   * Stays silent on a failure: the application's own facade fails in the same way and reports it.
   */
  private static void openIfEnabled(Environment environment) {
    try {
      if (OnEnabledPropertyCondition.enabled(environment)) {
        Mallometer.open().close();
      }
    } catch (RuntimeException | LinkageError e) {
      return;
    }
  }
}
