package io.mallometer.preload;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import io.mallometer.Mallometer;
import io.mallometer.model.Attachment;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.NativeCounters;
import io.mallometer.model.Setting;
import io.mallometer.model.Snapshot;
import io.mallometer.model.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A program to which mallometer attaches while it works. Its first argument selects the test.
 *
 * <ul>
 *   <li>{@code cycles N}: attaches and detaches N times under the stress of {@link
 *       SitesUnderStress}, while native libraries are loaded in the second half
 *   <li>{@code compare SECONDS}: compares the counters with a preloaded library that counts each
 *       call
 *   <li>{@code together COUNT}: attaches from COUNT class loaders at the same time
 *   <li>{@code watch SECONDS}: prints how far the counters drift from glibc's bytes in use, then
 *       makes allocations that the library does not see, and prints the gaps that it reports
 * </ul>
 */
public final class AttachedUnderLoad {

  private static final MallometerOptions WITHOUT_LEAKS =
      MallometerOptions.defaults().with(Setting.LEAK_ENABLED, false);

  private static final int A_MINUTE = 60;

  /**
   * The number of objects that the library does not see, because the program calls glibc's malloc
   * directly. The size of an object, {@link #UNSEEN_BYTES}, is below the threshold at which glibc
   * maps an object separately.
   */
  private static final int UNSEEN_OBJECTS = 200;

  private static final long UNSEEN_BYTES = 100 << 10;

  /**
   * The pause between rounds. It leaves CPU time to other programs, because a long test may run for
   * an hour.
   */
  private static final int PAUSE_MILLIS = 200;

  private AttachedUnderLoad() {}

  public static void main(String[] arguments) throws Exception {
    int amount = Integer.parseInt(arguments[1]);
    switch (arguments[0]) {
      case "cycles" -> cycles(amount);
      case "compare" -> compare(amount);
      case "together" -> together(amount);
      default -> watch(amount);
    }
    System.out.println("done");
    System.out.flush();
    System.exit(0); // Ends threads that libraries have left running.
  }

  // ---- Attach and detach in turn

  private static void cycles(int count) throws Exception {
    SitesUnderStress.startEverything();
    try (Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(200)))) {
      Thread libraries = new Thread(AttachedUnderLoad::loadLibraries, "libraries");
      libraries.setDaemon(true);
      double longestLock = 0;
      for (int i = 0; i < count; i++) {
        if (i == count / 2) {
          libraries.start();
        }
        expect(mallometer.counting().attach(), true);
        longestLock = Math.max(longestLock, lockSeconds(mallometer));
        long counted = countedOfTen(mallometer);
        if (counted < 10) {
          throw new AssertionError(counted + " of 10 allocations were counted");
        }
        if (!mallometer.poll().self().attachment().map(Attachment::complete).orElse(false)) {
          throw new AssertionError(mallometer.snapshot().self());
        }
        expect(mallometer.counting().detach(), false);
      }
      libraries.join();
      System.out.printf(Locale.ROOT, "cycles=%d longest lock %.1f ms%n", count, longestLock * 1e3);
    }
  }

  private static void loadLibraries() {
    try {
      new NativeLoad().runOnce();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void expect(Status status, boolean active) {
    if (status.active() != active) {
      throw new AssertionError(status);
    }
  }

  private static double lockSeconds(Mallometer mallometer) {
    return mallometer.snapshot().self().attachment().map(Attachment::lockSeconds).orElse(0.0);
  }

  private static long countedOfTen(Mallometer mallometer) {
    try (var scope = mallometer.counting().threadScope()) {
      for (int i = 0; i < 10; i++) {
        NativeWork.freeMemory(NativeWork.allocateMemory(100));
      }
      return scope.figures().counts().orElseThrow().calls();
    }
  }

  // ---- Attach from several class loaders at the same time

  private static void together(int count) throws Exception {
    List<Supplier<String>> copies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      copies.add(TwoClassLoaders.inAnotherClassLoader(Copy.class));
    }
    try (Mallometer afterwards = Mallometer.open(WITHOUT_LEAKS)) {
      List<CompletableFuture<String>> attached = new ArrayList<>();
      for (Supplier<String> copy : copies) {
        attached.add(CompletableFuture.supplyAsync(copy, task -> new Thread(task).start()));
      }
      for (CompletableFuture<String> one : attached) {
        System.out.println("copy " + one.get());
      }
      System.out.println("copy " + told(afterwards.poll()));
    }
  }

  private static String told(Snapshot snapshot) {
    Duration age = Duration.between(snapshot.self().since().orElse(Instant.EPOCH), Instant.now());
    return snapshot.status() + (age.toMinutes() == 0 ? " a moment ago" : " since " + age);
  }

  public static final class Copy implements Supplier<String> {
    private final Mallometer mallometer = Mallometer.open(WITHOUT_LEAKS);

    @Override
    public String get() {
      mallometer.counting().attach();
      return told(mallometer.snapshot());
    }
  }

  // ---- Comparison with an exact count

  private record Counted(long allocations, long frees, long allocatedBytes, long freedBytes) {

    long liveBytes() {
      return allocatedBytes - freedBytes;
    }

    Counted minus(Counted earlier) {
      return new Counted(
          allocations - earlier.allocations,
          frees - earlier.frees,
          allocatedBytes - earlier.allocatedBytes,
          freedBytes - earlier.freedBytes);
    }
  }

  private record Both(Counted exact, Counted ours) {}

  private static void compare(int seconds) throws Exception {
    try (Mallometer mallometer = Mallometer.open(WITHOUT_LEAKS)) {
      NativeLoad load = new NativeLoad();
      expect(mallometer.counting().attach(), true);
      Both before = both(mallometer);
      long end = System.nanoTime() + seconds * 1_000_000_000L;
      while (System.nanoTime() < end) {
        load.runOnce();
        Thread.sleep(seconds > A_MINUTE ? PAUSE_MILLIS : 0);
      }
      Both after = both(mallometer);
      Counted exact = after.exact().minus(before.exact());
      Counted ours = after.ours().minus(before.ours());
      tell("allocations", exact.allocations(), ours.allocations());
      tell("frees", exact.frees(), ours.frees());
      tell("allocated bytes", exact.allocatedBytes(), ours.allocatedBytes());
      tell("freed bytes", exact.freedBytes(), ours.freedBytes());
      System.out.println("drift of live bytes=" + (ours.liveBytes() - exact.liveBytes()));
    }
  }

  private static void tell(String what, long exact, long ours) {
    System.out.printf(
        Locale.ROOT,
        "%s: %d of %d, %.4f %%, missing=%d%n",
        what,
        ours,
        exact,
        100.0 * ours / exact,
        exact - ours);
  }

  /**
   * Reads mallometer's counters between two exact counts, and returns them if the exact counts are
   * equal. Tries many times, because the JVM allocates all the time.
   */
  private static Both both(Mallometer mallometer) throws Exception {
    NativeLibrary process = NativeLibrary.getProcess();
    try (Memory struct = new Memory(4 * Long.BYTES)) {
      for (int attempt = 0; attempt < 10_000; attempt++) {
        Counted before = exact(process, struct);
        NativeCounters counters = mallometer.poll().process().orElseThrow();
        if (exact(process, struct).equals(before)) {
          return new Both(
              before,
              new Counted(
                  counters.allocations(),
                  counters.frees(),
                  counters.allocatedBytes(),
                  counters.freedBytes()));
        }
        Thread.sleep(1);
      }
    }
    throw new AssertionError("the JVM is never quiet");
  }

  private static Counted exact(NativeLibrary process, Memory struct) {
    process.getFunction("exact_counters_read").invokeVoid(new Object[] {struct});
    return new Counted(
        struct.getLong(0), struct.getLong(8), struct.getLong(16), struct.getLong(24));
  }

  // ---- Comparison with glibc

  private static void watch(int seconds) throws Exception {
    try (Mallometer mallometer = Mallometer.open(WITHOUT_LEAKS)) {
      NativeLoad load = new NativeLoad();
      load.runOnce();
      expect(mallometer.counting().attach(), true);
      long end = System.nanoTime() + seconds * 1_000_000_000L;
      long told = System.nanoTime();
      while (System.nanoTime() < end) {
        load.runOnce();
        Thread.sleep(PAUSE_MILLIS);
        if (System.nanoTime() - told > 60_000_000_000L) {
          told = System.nanoTime();
          tellDrift(mallometer.poll());
        }
      }
      tellDrift(mallometer.poll());
      allocatePastTheLibrary();
      for (int i = 0; i < A_MINUTE && gaps(mallometer.poll()).isEmpty(); i++) {
        Thread.sleep(1_000);
      }
      System.out.println("gaps: " + gaps(mallometer.snapshot()));
    }
  }

  /** Calls glibc's malloc directly, so that the library does not count the objects. */
  private static void allocatePastTheLibrary() {
    Function malloc = NativeLibrary.getInstance("c").getFunction("__libc_malloc");
    for (int i = 0; i < UNSEEN_OBJECTS; i++) {
      malloc.invokePointer(new Object[] {UNSEEN_BYTES});
    }
  }

  private static String gaps(Snapshot snapshot) {
    return snapshot.self().attachment().orElseThrow().gaps();
  }

  private static void tellDrift(Snapshot snapshot) {
    NativeCounters counters = snapshot.process().orElseThrow();
    Attachment attachment = snapshot.self().attachment().orElseThrow();
    System.out.printf(
        Locale.ROOT,
        "allocations=%d live=%.0f baseline=%.0f error=%.0f drift=%.0f bound=%.0f%n",
        counters.allocations(),
        counters.liveBytes(),
        counters.baseline().bytes(),
        counters.baseline().errorBytes(),
        attachment.driftBytes(),
        attachment.driftBoundBytes());
  }
}
