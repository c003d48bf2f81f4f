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
 * <p>Each is published once in a context, on a thread of mallometer's; again only where it ceased
 * to be a leak and became one again. Those that are known when the context is ready are published
 * then. Acknowledged call sites are left out.
 */
public final class LeakEvent extends ApplicationEvent {

  @Serial private static final long serialVersionUID = 1;

  private final transient SiteVerdict leak;

  LeakEvent(Mallometer source, SiteVerdict leak) {
    super(source);
    this.leak = leak;
  }

  /** The verdict, with the call site, its stack, bytes and growth. */
  public SiteVerdict leak() {
    return leak;
  }
}
