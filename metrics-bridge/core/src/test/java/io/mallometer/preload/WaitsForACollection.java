package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.lang.ref.SoftReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Allocates direct buffers in four methods: {@code drop} keeps none, {@code keep} keeps all, {@code
 * remember} keeps soft references to them, and {@code halve} keeps every second one. Collects
 * garbage until {@code drop} has the verdict {@code WAITS_FOR_GC}, and prints all verdicts on each
 * method.
 */
public final class WaitsForACollection {

  private static final int BYTES = 16 << 10;
  private static final int BUFFERS = 200;
  private static final int COLLECTIONS = Integer.getInteger("collections", 8);
  private static final Set<String> METHODS = Set.of("drop", "keep", "remember", "halve");
  private static final List<Object> KEPT = new ArrayList<>();

  private WaitsForACollection() {}

  public static void main(String[] arguments) throws Exception {
    Set<String> seen = new ConcurrentSkipListSet<>();
    CountDownLatch told = new CountDownLatch(1);
    Semaphore evaluated = new Semaphore(0);
    AtomicReference<Instant> latest = new AtomicReference<>(Instant.EPOCH);
    try (Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, Duration.ofMillis(100))
                .with(Setting.LEAK_TIME_SCALE, 60.0))) {
      mallometer.onPoll(
          snapshot -> {
            tell(mallometer, seen, told);
            Instant time = mallometer.leaks().report().time();
            if (!time.equals(latest.getAndSet(time))) {
              evaluated.release();
            }
          });
      for (int i = 0; i < COLLECTIONS && told.getCount() > 0; i++) {
        for (int j = 0; j < BUFFERS; j++) {
          drop();
          keep();
          remember();
          halve(j);
        }
        // Waits for four evaluations before the next collection, because a verdict requires three
        // evaluations that agree.
        evaluated.drainPermits();
        evaluated.acquire(4);
        System.gc();
        evaluated.acquire(1);
      }
      seen.forEach(System.out::println);
      System.out.println("reason " + mallometer.leaks().report().garbageReason());
    }
    System.out.println(KEPT.size() + " kept");
  }

  private static void tell(Mallometer mallometer, Set<String> seen, CountDownLatch told) {
    for (SiteVerdict site : mallometer.leaks().report().sites()) {
      Set<String> through = new TreeSet<>();
      for (StackFrame frame : site.site().frames()) {
        if (frame.owner().endsWith("WaitsForACollection") && METHODS.contains(frame.name())) {
          through.add(frame.name());
        }
      }
      through.forEach(
          method ->
              seen.add(
                  method
                      + " "
                      + site.verdict().tag()
                      + " "
                      + site.grounds().garbage().answer().tag()));
      if (through.contains("drop") && site.verdict() == Verdict.WAITS_FOR_GC) {
        told.countDown();
      }
    }
  }

  private static void drop() {
    ByteBuffer.allocateDirect(BYTES);
  }

  private static void keep() {
    KEPT.add(ByteBuffer.allocateDirect(BYTES));
  }

  private static void remember() {
    KEPT.add(new SoftReference<>(ByteBuffer.allocateDirect(BYTES)));
  }

  private static void halve(int index) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
    if (index % 2 == 0) {
      KEPT.add(buffer);
    }
  }
}
