package io.mallometer.jfr;

import io.mallometer.Mallometer;
import io.mallometer.model.CallSite;
import io.mallometer.model.SiteOrder;
import java.util.List;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;

/**
 * Commits events on Flight Recorder's thread during a recording. Adds the events only when the
 * recorder starts, because adding them loads some hundred classes.
 */
final class PeriodicEvents implements FlightRecorderListener, AutoCloseable {

  private static final int MOST_SITES = 20;

  private final Mallometer mallometer;
  private final Runnable snapshot = this::commitSnapshot;
  private final Runnable callSites = this::commitCallSites;
  private Mallometer.Subscription monitors = () -> {};
  private boolean added;
  private boolean closed;

  private PeriodicEvents(Mallometer mallometer) {
    this.mallometer = mallometer;
  }

  static PeriodicEvents register(Mallometer mallometer) {
    PeriodicEvents events = new PeriodicEvents(mallometer);
    FlightRecorder.addListener(events);
    return events;
  }

  /**
   * Adds the events. {@link FlightRecorder#addListener} calls this at once if the recorder has
   * started already.
   */
  @Override
  public synchronized void recorderInitialized(FlightRecorder recorder) {
    if (!added && !closed) {
      added = true;
      FlightRecorder.addPeriodicEvent(NativeMemoryEvent.class, snapshot);
      FlightRecorder.addPeriodicEvent(CallSiteEvent.class, callSites);
      FlightRecorder.register(MonitorFlightEvent.class);
      monitors = mallometer.monitors().onEvent(event -> MonitorFlightEvent.of(event).commit());
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    FlightRecorder.removeListener(this);
    if (added) {
      added = false;
      FlightRecorder.removePeriodicEvent(snapshot);
      FlightRecorder.removePeriodicEvent(callSites);
      monitors.close();
      FlightRecorder.unregister(MonitorFlightEvent.class);
    }
  }

  private void commitSnapshot() {
    NativeMemoryEvent.of(mallometer.snapshot()).commit();
  }

  private void commitCallSites() {
    List<CallSite> largest =
        mallometer.sites().read().ofApplication().sortedBy(SiteOrder.LIVE).stream()
            .limit(MOST_SITES)
            .toList();
    for (int i = 0; i < largest.size(); i++) {
      CallSiteEvent.of(i + 1, largest.get(i)).commit();
    }
  }
}
