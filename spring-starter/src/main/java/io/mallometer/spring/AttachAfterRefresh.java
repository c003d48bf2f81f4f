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
 * Attaches the library, when the context is refreshed, to a process that was started without it. A
 * thread of its own does this, because an attach takes up to 0.5 s.
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
   * Returns whether {@code mallometer.attach} is {@code early}, for callers that are compiled for
   * Java 8 and cannot use a record.
   *
   * @throws org.springframework.boot.context.properties.bind.BindException if the property has an
   *     invalid value
   */
  static boolean isEarly(Environment environment) {
    return AttachSetting.of(environment).mode() == AttachMode.EARLY;
  }

  /**
   * Starts the attach, or logs that the library counts already or why no attach is made. Ignores
   * events of child contexts, such as that of a management port.
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
   * Starts the thread; returns false if no thread can be started. The context class loader of the
   * thread is that of the starter. Otherwise the thread would inherit the class loader of the
   * application context, and the thread may outlive this context.
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
   * Attaches and logs the result, unless the library counts already. Several contexts attach one at
   * a time.
   *
   * @param page the address of the page for the log; empty without one
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

  /** Waits up to 1 s for the thread: servers warn of threads that an application leaves behind. */
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
