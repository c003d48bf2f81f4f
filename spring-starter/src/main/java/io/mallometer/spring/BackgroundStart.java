package io.mallometer.spring;

import io.mallometer.Mallometer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.event.ApplicationPreparedEvent;
import org.springframework.boot.context.event.SpringApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.NativeDetector;
import org.springframework.core.env.Environment;

/**
 * Opens {@code Mallometer} on a thread of its own while Spring Boot starts.
 *
 * <p>The first {@code Mallometer.open()} of a process takes up to a few hundred milliseconds,
 * because it may unpack and load native libraries. Later calls are fast, so this class closes its
 * {@code Mallometer} immediately.
 *
 * <p>With {@code mallometer.attach=early} the thread attaches the library before Spring creates
 * beans.
 *
 * <p>Compiled for Java 8, because {@code spring.factories} names it: see {@link SupportedVersions}.
 */
final class BackgroundStart implements ApplicationListener<SpringApplicationEvent> {

  static final String THREAD = "mallometer-start";

  private static final String AOT_PROCESSING = "spring.aot.processing";
  private static final long LONGEST_WAIT_MILLIS = 1_000;

  /** Reaches zero when the attach has ended or will not be made. */
  volatile CountDownLatch attached = new CountDownLatch(0);

  @Override
  public void onApplicationEvent(SpringApplicationEvent event) {
    if (event instanceof ApplicationEnvironmentPreparedEvent) {
      if (SupportedVersions.obstacle() == null
          && !Boolean.getBoolean(AOT_PROCESSING)
          && !NativeDetector.inNativeImage()) {
        begin(((ApplicationEnvironmentPreparedEvent) event).getEnvironment());
      }
    } else if (event instanceof ApplicationPreparedEvent) {
      await();
    }
  }

  /**
   * Starts the thread if mallometer is enabled. Ignores invalid settings, because the application's
   * own beans report them.
   */
  private void begin(Environment environment) {
    boolean early;
    try {
      if (!ConditionalOnEnabledProperty.OnEnabledProperty.enabled(environment)) {
        return;
      }
      early = AttachAfterRefresh.isEarly(environment);
    } catch (RuntimeException e) {
      return;
    }
    attached = new CountDownLatch(early ? 1 : 0);
    start(early, attached);
  }

  private static void start(boolean early, CountDownLatch attached) {
    Thread thread = new Thread(() -> open(early, attached), THREAD);
    thread.setDaemon(true);
    thread.setContextClassLoader(BackgroundStart.class.getClassLoader());
    try {
      thread.start();
    } catch (OutOfMemoryError e) {
      // No thread can be started. The application's own {@code Mallometer} reports this.
      attached.countDown();
    }
  }

  private static void open(boolean early, CountDownLatch attached) {
    try (Mallometer mallometer = Mallometer.open()) {
      if (early) {
        AttachAfterRefresh.attach(mallometer, "");
        attached.countDown(); // Releases await() before close() runs.
      }
    } catch (RuntimeException | LinkageError e) {
      return; // The application's own call of open() fails in the same way and reports it.
    } finally {
      attached.countDown();
    }
  }

  /** Waits up to 1 s for the attach, because Spring creates the beans next. */
  private void await() {
    try {
      attached.await(LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
