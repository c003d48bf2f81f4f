package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.SelfReport;
import io.mallometer.model.Snapshot;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.NativeDetector;

/**
 * Begins to count in a process that was started without the library, when the context is refreshed.
 * That takes up to half a second, for which nothing waits.
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

  AttachAfterRefresh(Mallometer mallometer, AttachSetting setting, ApplicationContext context) {
    this.mallometer = mallometer;
    this.setting = setting;
    this.context = context;
  }

  /** Contexts in this one, such as that of a management port, tell this one of theirs. */
  @Override
  public void onApplicationEvent(ContextRefreshedEvent event) {
    if (event.getApplicationContext() != context) {
      return;
    }
    if (mallometer.status().active()) {
      sayRelaunched(mallometer.snapshot());
    } else if (setting.mode() == AttachMode.OFF) {
      CountingNotice.logOff(mallometer.status(), setting);
    } else if (NativeDetector.inNativeImage() || !startThread()) {
      CountingNotice.log(mallometer.snapshot());
    }
  }

  /** An agent that relaunches says so itself. */
  private void sayRelaunched(Snapshot snapshot) {
    if (setting.mode() == AttachMode.RELAUNCH
        && snapshot.self().mode().equals(SelfReport.RELAUNCHED)) {
      CountingNotice.logRelaunched(snapshot);
    }
  }

  /** Without the context's class loader, which the thread may outlive. */
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
      attach(mallometer);
    }
  }

  /** Attaches unless something counts already. One context does so at a time, and says so. */
  static void attach(Mallometer mallometer) {
    synchronized (AttachAfterRefresh.class) {
      try {
        if (!mallometer.poll().status().active()) {
          mallometer.counting().attach();
          CountingNotice.log(mallometer.snapshot());
        }
      } catch (RuntimeException | LinkageError e) {
        CountingNotice.logFailure(e);
      }
    }
  }

  /** A server complains of threads that an application leaves, so the thread is waited for. */
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
