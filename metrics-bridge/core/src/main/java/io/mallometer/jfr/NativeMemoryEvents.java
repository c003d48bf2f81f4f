package io.mallometer.jfr;

import io.mallometer.Mallometer;
import io.mallometer.internal.text.Log;

/**
 * Puts native memory into every recording of Java Flight Recorder: {@value #NATIVE_MEMORY} every 10
 * s, {@value #CALL_SITE} every minute for the 20 sites with the most live bytes, and {@value
 * #MONITOR} whenever a monitor of mallometer reports something, such as a large request. A
 * recording can disable an event or change its interval, for example with {@code
 * io.mallometer.CallSite#period}.
 *
 * <p>Costs nothing without a recording. Does nothing on a runtime without the module {@code
 * jdk.jfr}.
 */
public final class NativeMemoryEvents implements AutoCloseable {

  /** The name of the event with the values of the latest poll. */
  public static final String NATIVE_MEMORY = "io.mallometer.NativeMemory";

  /** The name of the event with one call site. */
  public static final String CALL_SITE = "io.mallometer.CallSite";

  /**
   * The name of the event that records what a monitor of mallometer has reported, such as a large
   * request.
   */
  public static final String MONITOR = "io.mallometer.Monitor";

  private static final Log LOG = Log.of(NativeMemoryEvents.class);

  private final AutoCloseable events;

  private NativeMemoryEvents(AutoCloseable events) {
    this.events = events;
  }

  /** Registers the events. Never throws: a failure is logged. */
  public static NativeMemoryEvents register(Mallometer mallometer) {
    if (ModuleLayer.boot().findModule("jdk.jfr").isEmpty()) {
      LOG.debug("This runtime has no Flight Recorder", null);
      return new NativeMemoryEvents(() -> {});
    }
    try {
      return new NativeMemoryEvents(PeriodicEvents.register(mallometer));
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Flight Recorder cannot record native memory", e);
      return new NativeMemoryEvents(() -> {});
    }
  }

  /** Removes the events. A second call does nothing. */
  @Override
  public void close() {
    try {
      events.close();
    } catch (Exception | LinkageError e) {
      LOG.warn("The events of native memory cannot be removed from Flight Recorder", e);
    }
  }
}
