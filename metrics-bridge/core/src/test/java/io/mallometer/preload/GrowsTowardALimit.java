package io.mallometer.preload;

import io.mallometer.internal.engine.Engine;
import io.mallometer.internal.engine.Poller;
import io.mallometer.internal.engine.Sources;
import io.mallometer.internal.library.load.ProcessLibrary;
import io.mallometer.internal.process.MemoryByClock;
import io.mallometer.internal.process.MemorySource;
import io.mallometer.model.Account;
import io.mallometer.model.Diagnosis;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Adds memory in 200 steps under a stated limit of 1 GiB, and prints the diagnosis. The clock of
 * the diagnosis advances by a second in each step, so the rate of growth does not depend on the
 * load of the machine.
 *
 * <p>The first argument is the kind of memory: {@code touched} or {@code untouched} objects of
 * malloc, {@code mapped} for memory that is mapped by a foreign function, or {@code file} for pages
 * of the file that the second argument names.
 */
public final class GrowsTowardALimit {

  static final long LIMIT = 1L << 30;
  static final long FILE_BYTES = 400L << 20;

  private static final int SCALE = 10;
  private static final int STARTING_STEPS = 30;
  private static final int STEPS = 200;
  private static final int STEP_MILLIS = 30;
  private static final int STEP_BYTES = (int) (FILE_BYTES / STEPS);
  private static final int UNTOUCHED_BYTES = 64 << 20;
  private static final int PAGE = 4096;

  private GrowsTowardALimit() {}

  public static void main(String[] arguments) throws Exception {
    SteppedClock clock = new SteppedClock();
    Engine engine =
        new Engine(
            Sources.of(
                new ProcessLibrary(),
                arguments[0].equals("mapped")
                    ? MemoryByClock.of(clock::nanos)
                    : MemorySource.ofThisProcess(),
                clock,
                clock::nanos,
                GrowsTowardALimit::daemon));
    Poller poller = engine.poller();
    engine.starting(true);
    poller.acquire(
        Optional.of(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, Duration.ofMillis(STEP_MILLIS))
                .with(Setting.LIMIT, LIMIT)
                .with(Setting.LEAK_TIME_SCALE, (double) SCALE)));
    // The program's own classes are loaded in these steps.
    for (int i = 0; i < STARTING_STEPS; i++) {
      passSecond(clock, poller);
    }
    engine.starting(false);
    Step step = step(arguments);
    double soonest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < STEPS; i++) {
      step.add(i);
      passSecond(clock, poller);
      double seconds = poller.latest().diagnosis().limit().seconds();
      soonest = seconds < soonest ? seconds : soonest;
    }
    System.out.println("soonest=" + soonest);
    print(poller.latest());
    engine.leaks().latest().sites().stream()
        .map(SiteVerdict::sentence)
        .forEach(sentence -> System.out.println("site=" + sentence));
  }

  private static void passSecond(SteppedClock clock, Poller poller) throws InterruptedException {
    clock.passSecond();
    while (poller.latest().time().isBefore(clock.instant())) {
      Thread.sleep(10);
    }
  }

  private interface Step {
    void add(int index);
  }

  private static Step step(String[] arguments) throws Exception {
    if (arguments[0].equals("untouched")) {
      return index -> NativeWork.allocateMemory(UNTOUCHED_BYTES);
    }
    if (arguments[0].equals("touched")) {
      return index -> NativeWork.fill(NativeWork.allocateMemory(STEP_BYTES), STEP_BYTES);
    }
    if (arguments[0].equals("mapped")) {
      return index -> MapsMemory.mapMemory(STEP_BYTES).clear(STEP_BYTES);
    }
    try (FileChannel file = FileChannel.open(Path.of(arguments[1]), StandardOpenOption.READ)) {
      MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, FILE_BYTES);
      return index -> read(mapped, index * STEP_BYTES);
    }
  }

  private static void read(MappedByteBuffer mapped, int from) {
    int sum = 0;
    for (int offset = from; offset < from + STEP_BYTES; offset += PAGE) {
      sum += mapped.get(offset);
    }
    if (sum != 0) {
      throw new AssertionError("the file is not empty");
    }
  }

  private static void print(Snapshot snapshot) {
    Diagnosis diagnosis = snapshot.diagnosis();
    System.out.println("state=" + diagnosis.state());
    System.out.println("sentence=" + diagnosis.sentence());
    diagnosis.account().ifPresent(GrowsTowardALimit::printMapped);
    System.out.println("source=" + diagnosis.limit().source());
    System.out.println("used=" + (long) diagnosis.limit().usedBytes());
    System.out.println("seconds=" + diagnosis.limit().seconds());
    System.out.println("resident=" + (long) snapshot.memory().residentBytes());
    System.out.println(
        "budget="
            + snapshot.memory().budget().map(MemoryBudget::limitBytes).orElseThrow().longValue());
    System.out.println(
        "verdict=" + snapshot.memory().budget().map(MemoryBudget::verdict).orElseThrow());
  }

  private static void printMapped(Account account) {
    for (Account.Row row : account.rows()) {
      if (row.kind() == Account.Kind.MAPPED) {
        System.out.println("mapped=" + row.name() + " (" + row.place() + ")");
        System.out.println("growth=" + row.growthBytes());
        System.out.println("total=" + account.total().growthBytes());
      }
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "poller");
    thread.setDaemon(true);
    return thread;
  }

  private static final class SteppedClock extends Clock {
    private final Instant start = Instant.now();
    private final AtomicLong nanos = new AtomicLong();

    long nanos() {
      return nanos.get();
    }

    void passSecond() {
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    }

    @Override
    public ZoneOffset getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(java.time.ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return start.plusNanos(nanos.get());
    }
  }
}
