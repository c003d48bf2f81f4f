package io.mallometer.preload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.ScopedExecutor;
import io.mallometer.model.RetainedSite;
import io.mallometer.model.ScopeCounts;
import io.mallometer.model.ScopeFigures;
import io.mallometer.model.ScopeMatches;
import io.mallometer.model.ScopeOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests the counts of the allocations during a piece of code (a scope), in a JVM that is preloaded
 * or attached.
 */
@Tag("preload")
@ExtendWith(Counted.class)
class ScopesTest {

  private static final long MIB = 1 << 20;

  /** The most bytes that the JVM itself allocates in the thread during a scope. */
  private static final double SLACK = 1_000_000;

  @AutoClose private final Mallometer mallometer = Mallometer.open();

  @Test
  void knownWorkIsCountedExactlyAndItsPeakIsOfTheScope() {
    // Makes a peak before the scope, which the scope must not report.
    NativeWork.freeMemory(NativeWork.allocateMemory(100 * MIB));
    try (NativeScope scope = mallometer.counting().threadScope();
        NativeWork work = new NativeWork()) {
      work.allocate();
      work.free();

      ScopeCounts counts = counts(scope);
      assertThat(counts.allocationsBySize().count(NativeWork.SIZE_CLASS))
          .isEqualTo(NativeWork.ALLOCATIONS);
      double peak = (double) NativeWork.ALLOCATIONS * NativeWork.BYTES;
      assertThat(counts.peakBytes()).isBetween(peak, peak + SLACK);
      assertThat(counts.peakErrorBytes()).isZero();
      assertThat(counts.largestBytes())
          .isBetween((double) NativeWork.BYTES, NativeWork.BYTES + 64.0);
      assertThat(counts.netBytes())
          .isBetween(
              (double) NativeWork.BUFFERS * NativeWork.BYTES - SLACK,
              (double) NativeWork.BUFFERS * NativeWork.BYTES + SLACK);
      assertThat(scope.figures().reason()).isEmpty();
      assertThat(scope.figures().matches()).isEmpty();
    }
  }

  @Test
  void anEmptyScopeCountsNothing() {
    List<Long> calls = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      NativeScope scope = mallometer.counting().threadScope();
      scope.close();
      calls.add(counts(scope).calls());
    }
    // A few scopes are not empty, because the JVM sometimes allocates when a method becomes hot.
    assertThat(calls.stream().filter(call -> call == 0).count()).isGreaterThan(400);
  }

  @Test
  void aMatchedScopeTellsTemporaryFromRetainedMemory() {
    long foreign = NativeWork.allocateMemory(5 * MIB);
    ScopeOptions matched = ScopeOptions.defaults().withMatched(true);
    try (NativeScope scope = mallometer.counting().threadScope(matched)) {
      long kept = NativeWork.allocateMemory(3 * MIB);
      for (int i = 0; i < 10; i++) {
        NativeWork.freeMemory(NativeWork.allocateMemory(2 * MIB));
      }
      NativeWork.freeMemory(foreign);
      ScopeMatches matches = scope.figures().matches().orElseThrow();
      NativeWork.freeMemory(kept);

      assertThat(matches.temporaryCalls()).isBetween(10L, 100L);
      assertThat(matches.temporaryBytes()).isBetween(20 * MIB, 20 * MIB + (long) SLACK);
      assertThat(matches.retainedBytes()).isBetween(3 * MIB, 3 * MIB + (long) SLACK);
      assertThat(matches.foreignFreedBytes()).isBetween(5 * MIB, 5 * MIB + (long) SLACK);
      assertThat(scope.figures().matches().orElseThrow().temporaryBytes())
          .isGreaterThanOrEqualTo(23 * MIB);
    }
  }

  @Test
  void whatWasRetainedHasItsCallSites() {
    mallometer.sites().read(); // makes later stacks have Java frames
    ScopeOptions matched = ScopeOptions.defaults().withMatched(true);
    List<Deflater> deflaters = new ArrayList<>();
    try (NativeScope scope = mallometer.counting().threadScope(matched)) {
      boolean found = false;
      for (int i = 0; i < 50 && !found; i++) {
        deflaters.addAll(NativeWork.deflaters(20));
        found = scope.retained().stream().anyMatch(ScopesTest::isOfDeflaters);
      }
      assertThat(found).isTrue();
      deflaters.forEach(Deflater::end);
    }
  }

  @Test
  void aThreadsScopeSeesItsOwnThreadOnlyAndAnyThreadReadsIt() {
    NativeScope scope = mallometer.counting().threadScope();
    NativeWork.freeMemory(NativeWork.allocateMemory(2 * MIB));
    ScopeFigures read =
        CompletableFuture.supplyAsync(
                () -> {
                  NativeWork.freeMemory(NativeWork.allocateMemory(50 * MIB));
                  ScopeFigures figures = scope.figures();
                  scope.close();
                  return figures;
                })
            .join();

    assertThat(read.counts().orElseThrow().peakBytes()).isBetween(2.0 * MIB, 2 * MIB + SLACK);
    assertThat(counts(scope).peakBytes()).isBetween(2.0 * MIB, 2 * MIB + SLACK);
    assertThat(counts(scope).largestBytes()).isLessThan(3.0 * MIB);
  }

  @Test
  void theProcesssPeakWithinAScopeIsKnownWithItsError() {
    NativeWork.freeMemory(NativeWork.allocateMemory(300 * MIB));
    try (NativeScope scope = mallometer.counting().processScope()) {
      long mine = NativeWork.allocateMemory(60 * MIB);
      CompletableFuture.runAsync(() -> NativeWork.freeMemory(NativeWork.allocateMemory(60 * MIB)))
          .join();
      NativeWork.freeMemory(mine);

      ScopeCounts counts = counts(scope);
      assertThat(counts.peakErrorBytes()).isBetween(1.0, 40.0 * MIB);
      assertThat(counts.peakBytes() + counts.peakErrorBytes()).isGreaterThan(120.0 * MIB);
      assertThat(counts.peakBytes() - counts.peakErrorBytes()).isLessThan(170.0 * MIB);
      assertThat(counts.largestBytes()).isGreaterThanOrEqualTo(60.0 * MIB);
      assertThat(counts.largestBytes() - counts.largestErrorBytes()).isLessThan(61.0 * MIB);
    }
  }

  @Test
  void aTaskThatCrossesThreadsIsTheSumOfItsPieces() {
    ExecutorService pool = Executors.newFixedThreadPool(3);
    try {
      ScopedExecutor measured =
          mallometer.counting().across(pool, ScopeOptions.defaults().withMatched(true));
      List<Long> kept =
          IntStream.range(0, 6)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () -> {
                            NativeWork.freeMemory(NativeWork.allocateMemory(2 * MIB));
                            return NativeWork.allocateMemory(MIB);
                          },
                          measured))
              .toList()
              .stream()
              .map(CompletableFuture::join)
              .toList();
      pool.shutdown();
      while (!pool.isTerminated()) {
        Thread.onSpinWait();
      }

      ScopeFigures figures = measured.figures();
      ScopeCounts counts = figures.counts().orElseThrow();
      assertThat(counts.netBytes()).isBetween(6.0 * MIB, 6 * MIB + 6 * SLACK);
      assertThat(counts.peakBytes()).isBetween(12.0 * MIB, 12 * MIB + 6 * SLACK);
      assertThat(counts.peakErrorBytes()).isEqualTo(counts.peakBytes());
      assertThat(figures.matches().orElseThrow().temporaryBytes()).isGreaterThanOrEqualTo(12 * MIB);
      assertThat(figures.reason()).isEmpty();
      kept.forEach(NativeWork::freeMemory);
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void onAVirtualThreadAScopeIsEmptyWithTheReason() throws Exception {
    assumeThat(Runtime.version().feature()).isGreaterThanOrEqualTo(21);
    List<ScopeFigures> figures = new ArrayList<>();
    ScopedExecutor measured = mallometer.counting().across(task -> virtually(task::run));
    measured.execute(() -> {});
    virtually(
        () -> {
          try (NativeScope scope = mallometer.counting().threadScope()) {
            figures.add(scope.figures());
          }
        });

    for (ScopeFigures empty : List.of(figures.get(0), measured.figures())) {
      assertThat(empty.counts()).isEmpty();
      assertThat(empty.reason()).contains("virtual thread");
    }
  }

  /** The bound is far above the time on an idle machine, because this machine may be busy. */
  @Test
  void aScopeTakesMicroseconds() {
    Consumer<Integer> scopes =
        count -> {
          for (int i = 0; i < count; i++) {
            mallometer.counting().threadScope().close();
          }
        };
    scopes.accept(200_000);
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long start = System.nanoTime();
      scopes.accept(1_000);
      best = Math.min(best, System.nanoTime() - start);
    }
    System.out.println(
        "a thread's scope, opened and closed: " + best / 1_000 + " ns, " + Counted.MODE);

    assertThat(best / 1_000).isLessThan(50_000);
  }

  private static boolean isOfDeflaters(RetainedSite retained) {
    return retained.bytes().value() > 0
        && retained.site().frames().stream().anyMatch(frame -> frame.owner().contains("Deflater"));
  }

  private static ScopeCounts counts(NativeScope scope) {
    return scope.figures().counts().orElseThrow();
  }

  private static void virtually(Runnable task) {
    try {
      Thread thread =
          (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
      thread.join();
    } catch (ReflectiveOperationException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
