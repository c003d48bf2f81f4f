package io.mallometer.internal.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mallometer.FaceContract;
import io.mallometer.FakeMallometer;
import io.mallometer.model.HugeAllocation;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class HugeAllocationWatchTest {

  private final List<String> told = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final AtomicLong nanoTime = new AtomicLong(-5);
  private final HugeAllocationWatch watch =
      new HugeAllocationWatch(
          (allocation, missed) -> told.add(allocation.number() + " missed " + missed),
          tasks::add,
          nanoTime::get);

  @Test
  void eachIsToldOnceHoweverOftenItIsSeen() {
    poll(1, 2);
    poll(1, 2);
    poll(2, 3);

    assertThat(told).containsExactly("1 missed 0", "2 missed 0", "3 missed 0");
  }

  @Test
  void gapsAreCounted() {
    poll(5, 6);
    poll(70, 70);

    assertThat(told).containsExactly("5 missed 4", "6 missed 0", "70 missed 63");
  }

  @Test
  void thoseOfOneSecondAreToldTogether() {
    watch.accept(snapshot(1, 1));
    runTasks();
    elapse(Duration.ofMillis(500));
    watch.accept(snapshot(1, 2));
    runTasks();
    assertThat(told).hasSize(1);

    elapse(Duration.ofMillis(600));
    watch.accept(snapshot(2, 3));
    runTasks();
    assertThat(told).hasSize(3);
  }

  @Test
  void whileTheListenerIsBusyOnlyTheLatestWaits() {
    poll(1, 1, false);
    poll(2, 2, false);
    poll(3, 4, false);
    assertThat(tasks).hasSize(1);

    runTasks();
    assertThat(told).containsExactly("3 missed 2", "4 missed 0");
  }

  @Test
  void aListenerThatFailsIsToldOn() {
    HugeAllocationWatch failing =
        new HugeAllocationWatch(
            (allocation, missed) -> {
              told.add("" + allocation.number());
              throw new IllegalStateException("broken listener");
            },
            tasks::add,
            nanoTime::get);
    failing.accept(snapshot(1, 2));
    runTasks();
    elapse(Duration.ofSeconds(2));
    failing.accept(snapshot(3, 3));
    runTasks();

    assertThat(told).containsExactly("1", "2", "3");
  }

  @Test
  void whereNoThreadCouldBeStartedTheNextPollTellsAll() {
    AtomicBoolean exhausted = new AtomicBoolean(true);
    HugeAllocationWatch late =
        new HugeAllocationWatch(
            (allocation, missed) -> told.add("" + allocation.number()),
            task -> {
              if (exhausted.get()) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              tasks.add(task);
            },
            nanoTime::get);
    assertThatThrownBy(() -> late.accept(snapshot(1, 1))).isInstanceOf(OutOfMemoryError.class);
    exhausted.set(false);
    elapse(Duration.ofSeconds(5));
    late.accept(snapshot(1, 2));
    runTasks();

    assertThat(told).containsExactly("1", "2");
  }

  @Test
  void nothingIsToldAfterClosing() {
    poll(1, 1, false);
    watch.close();
    runTasks();
    poll(2, 2);

    assertThat(told).isEmpty();
  }

  @Test
  void aFacadeTellsItsListenersOnAnotherThreadThanThePolls() throws Exception {
    FakeMallometer mallometer =
        new FakeMallometer(FaceContract.counters(true, 1), FaceContract.selfReport());
    CountDownLatch seen = new CountDownLatch(1);
    List<String> threads = new ArrayList<>();
    mallometer.setHugeAllocations(allocations(7, 7));
    mallometer.poll();
    try (mallometer) {
      mallometer
          .allocator()
          .onHugeAllocation(
              (allocation, missed) -> {
                threads.add(Thread.currentThread().getName());
                seen.countDown();
              });
      assertThat(seen.await(60, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(threads).containsExactly(ListenerThread.NAME);
  }

  private void poll(long first, long last) {
    poll(first, last, true);
  }

  private void poll(long first, long last, boolean run) {
    elapse(Duration.ofSeconds(5));
    watch.accept(snapshot(first, last));
    if (run) {
      runTasks();
    }
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  private void elapse(Duration duration) {
    nanoTime.addAndGet(duration.toNanos());
  }

  private static Snapshot snapshot(long first, long last) {
    return new Snapshot(
        Instant.EPOCH,
        Status.counting(),
        Optional.empty(),
        FaceContract.selfReport(),
        allocations(first, last));
  }

  private static List<HugeAllocation> allocations(long first, long last) {
    return LongStream.rangeClosed(first, last)
        .mapToObj(number -> new HugeAllocation(number, Instant.EPOCH, 1 << 30, 4, "worker"))
        .toList();
  }
}
