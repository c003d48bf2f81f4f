package io.mallometer.spring;

import io.mallometer.Mallometer;
import io.mallometer.model.SiteVerdict;
import java.io.Serial;
import org.springframework.context.ApplicationEvent;

/**
 * A call site that has become a leak.
 *
 * <pre>{@code
 * @EventListener
 * void onLeak(LeakEvent event) {
 *   log.warn("{}: {}", event.leak().site().name(), event.leak().sentence());
 * }
 * }</pre>
 *
 * <p>A context publishes a leak once, on a thread of mallometer, and again only if the verdict had
 * changed in between. Leaks from before the context was ready are published when it is ready.
 * Acknowledged call sites are not published.
 */
public final class LeakEvent extends ApplicationEvent {

  @Serial private static final long serialVersionUID = 1;

  private final transient SiteVerdict leak;

  LeakEvent(Mallometer source, SiteVerdict leak) {
    super(source);
    this.leak = leak;
  }

  /** Returns the verdict, with the call site, its stack, bytes and growth. */
  public SiteVerdict leak() {
    return leak;
  }
}
