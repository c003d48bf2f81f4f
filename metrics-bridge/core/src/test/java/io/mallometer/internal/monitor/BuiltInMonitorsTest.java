package io.mallometer.internal.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.SilentLibrary;
import io.mallometer.SitesByHand;
import io.mallometer.internal.library.RequestWatch;
import io.mallometer.model.CallSites;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.MonitorEvent;
import io.mallometer.model.MonitorOptions;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BuiltInMonitorsTest {

  private static final MonitorOptions OPTIONS = MonitorOptions.threshold(1_000);

  private static final class Watching extends SilentLibrary {
    private boolean read;

    Watching() {
      super(Status.counting());
    }

    @Override
    public RequestWatch watchRequests(long bytes, int thread) {
      return new RequestWatch() {
        @Override
        public String reason() {
          return "";
        }

        @Override
        public synchronized List<Request> read() {
          HugeAllocation request = new HugeAllocation(1, Instant.EPOCH, 2_000, 42, "worker");
          List<Request> requests = read ? List.of() : List.of(new Request(request, List.of()));
          read = true;
          return requests;
        }

        @Override
        public void close() {}
      };
    }
  }

  private final Watching library = new Watching();
  private final MonitorJournal journal = new MonitorJournal(library, Clock.systemUTC());
  private final List<MonitorEvent> told = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch listenerReadsSites = new CountDownLatch(1);
  private final CountDownLatch mayGoOn = new CountDownLatch(1);
  private final CountDownLatch listenerEnded = new CountDownLatch(1);

  @Test
  void aRequestIsReportedOnceIfTheMonitorClosesWhileTheListenerReadsCallSites() throws Exception {
    journal.subscribe(told::add);
    ListenerThread listener = new ListenerThread();
    BuiltInMonitors.RunningMonitor monitor =
        BuiltInMonitors.of(
            OPTIONS,
            new BuiltInMonitors.MonitorContext(
                library,
                () -> library.read(Instant.EPOCH),
                this::sites,
                this::sites,
                listener,
                journal,
                System::nanoTime));
    Snapshot counting = library.read(Instant.EPOCH);
    monitor.accept(counting);
    monitor.accept(counting);
    assertThat(listenerReadsSites.await(60, TimeUnit.SECONDS)).isTrue();

    monitor.close();
    assertThat(told).extracting(MonitorEvent::bytes).containsExactly(2_000L);

    mayGoOn.countDown();
    listener.execute(listenerEnded::countDown);
    assertThat(listenerEnded.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(told).hasSize(1);
  }

  private CallSites sites() {
    if (Thread.currentThread().getName().equals(ListenerThread.NAME)) {
      listenerReadsSites.countDown();
      try {
        mayGoOn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return SitesByHand.three();
  }
}
