package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.AttachMode;
import io.mallometer.spring.ApplicationSettings.AttachSetting;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.NativeDetector;
import org.springframework.core.env.Environment;

/**
 * Attaches the library after the context is refreshed, if the process was started without it. An
 * attach takes up to 0.5 s, so a thread of its own does this.
 */
final class AttachAfterRefresh
    implements ApplicationListener<ContextRefreshedEvent>, AutoCloseable {

  static final String THREAD = "mallometer-attach";

  private static final long LONGEST_END_MILLIS = 1_000;

  private final Mallometer mallometer;
  private final AttachSetting setting;
  private final ApplicationContext context;
  private volatile @Nullable Thread thread;
  private volatile boolean closed;
  private volatile String page = "";

  AttachAfterRefresh(Mallometer mallometer, AttachSetting setting, ApplicationContext context) {
    this.mallometer = mallometer;
    this.setting = setting;
    this.context = context;
  }

  /**
   * Returns whether {@code mallometer.attach} is {@code early}. Classes compiled for Java 8 call
   * this, because they cannot use the record {@link AttachSetting}.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if the property has an
   *     invalid value
   */
  static boolean isEarly(Environment environment) {
    return AttachSetting.of(environment).mode() == AttachMode.EARLY;
  }

  /**
   * Starts the attach, or logs why there is none. Ignores the refresh of child contexts, such as
   * the context of a management port.
   */
  @Override
  public void onApplicationEvent(ContextRefreshedEvent event) {
    if (event.getApplicationContext() != context) {
      return;
    }
    page = page();
    if (mallometer.status().active()) {
      CountingNotice.logCounted(mallometer.snapshot(), page);
    } else if (setting.mode() == AttachMode.OFF) {
      CountingNotice.logOff(mallometer.status(), setting);
    } else if (NativeDetector.inNativeImage() || !startThread()) {
      CountingNotice.log(mallometer.snapshot(), page);
    }
  }

  private String page() {
    @Nullable PageAddress address = context.getBeanProvider(PageAddress.class).getIfAvailable();
    return address == null ? "" : address.find();
  }

  /**
   * Returns false if no thread can be started.
   *
   * <p>The thread may outlive the application. Its context class loader is therefore the loader of
   * this class, so that the thread does not keep the application's class loader in memory.
   */
  private boolean startThread() {
    Thread started = new Thread(null, this::attachUnlessClosed, THREAD, 0, false);
    started.setDaemon(true);
    started.setContextClassLoader(AttachAfterRefresh.class.getClassLoader());
    try {
      started.start();
      thread = started;
      return true;
    } catch (OutOfMemoryError e) {
      return false;
    }
  }

  private void attachUnlessClosed() {
    if (!closed) {
      attach(mallometer, page);
    }
  }

  /**
   * Attaches the library and logs the result. Does neither if the library already counts
   * allocations. One context at a time attaches.
   *
   * @param page the address of mallometer's web page, for the log; empty if there is none
   */
  static void attach(Mallometer mallometer, String page) {
    synchronized (AttachAfterRefresh.class) {
      try {
        if (!mallometer.poll().status().active()) {
          mallometer.counting().attach();
          CountingNotice.log(mallometer.snapshot(), page);
        }
      } catch (RuntimeException | LinkageError e) {
        CountingNotice.logFailure(e);
      }
    }
  }

  /**
   * Waits up to 1 s for the thread, because servers warn of threads that outlive an application.
   */
  @Override
  public void close() {
    closed = true;
    Thread started = thread;
    try {
      if (started != null) {
        started.join(LONGEST_END_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
