package io.mallometer.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Snapshot;
import io.mallometer.model.State;
import io.mallometer.model.Status;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SnapshotOfScrapeTest {

  private final AtomicLong nanos = new AtomicLong(-7);
  private final SnapshotOfScrape scrapes = new SnapshotOfScrape(nanos::get);
  private final Snapshot first = snapshot(1);
  private final Snapshot second = snapshot(2);

  @Test
  void theFirstSnapshotOfAThreadServesItWhileItReads() {
    assertThat(scrapes.snapshot(first)).isSameAs(first);
    for (int i = 0; i < 19; i++) {
      elapse(249);
      assertThat(scrapes.snapshot(second)).isSameAs(first);
    }
  }

  @Test
  void aThreadThatHasReadNothingForAQuarterOfASecondBeginsAnew() {
    scrapes.snapshot(first);
    elapse(250);
    assertThat(scrapes.snapshot(second)).isSameAs(second);
  }

  @Test
  void aScrapeEndsAfterFiveSeconds() {
    for (int i = 0; i < 50; i++) {
      assertThat(scrapes.snapshot(i == 0 ? first : second)).isSameAs(first);
      elapse(100);
    }
    assertThat(scrapes.snapshot(second)).isSameAs(second);
  }

  @Test
  void anotherThreadHasAScrapeOfItsOwn() {
    scrapes.snapshot(first);
    assertThat(CompletableFuture.supplyAsync(() -> scrapes.snapshot(second)).join())
        .isSameAs(second);
  }

  @Test
  void aThreadThatPollsSeesWhatItPolled() {
    scrapes.snapshot(first);
    scrapes.polled();
    assertThat(scrapes.snapshot(second)).isSameAs(second);
  }

  @Test
  void aPollLeavesTheScrapesOfOtherThreadsAlone() {
    scrapes.snapshot(first);
    CompletableFuture.runAsync(scrapes::polled).join();
    assertThat(scrapes.snapshot(second)).isSameAs(first);
  }

  @Test
  void threadsThatCameAndWentAreLetGoAlsoWhereNothingPolls() throws Exception {
    for (int i = 0; i < 100; i++) {
      Thread thread = new Thread(() -> scrapes.snapshot(first));
      thread.start();
      thread.join();
      elapse(250);
    }
    assertThat(scrapes.held()).isOne();
  }

  @Test
  void noSnapshotIsHeldAfterThePollThatFollowsAScrape() throws Exception {
    WeakReference<Snapshot> held = new WeakReference<>(scrapes.snapshot(snapshot(3)));
    elapse(250);
    CompletableFuture.runAsync(scrapes::polled).join();
    for (int i = 0; i < 100 && held.get() != null; i++) {
      System.gc();
    }
    assertThat(held.get()).isNull();
  }

  private void elapse(long millis) {
    nanos.addAndGet(Duration.ofMillis(millis).toNanos());
  }

  private static Snapshot snapshot(int second) {
    return Snapshot.absent(Instant.ofEpochSecond(second), new Status(State.DISABLED, "off", ""));
  }
}
