package io.mallometer.junit;

import io.mallometer.junit.ThisProcess.Counting;
import io.mallometer.junit.ThisProcess.Watch;
import io.mallometer.model.ScopeCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.opentest4j.AssertionFailedError;

/**
 * The expectations in a test's annotations. They are checked one after the other, and each check
 * runs the test several times.
 */
record Expectations(
    Optional<ExpectMaxNative> most,
    Optional<ExpectNativeFreed> freed,
    Optional<ExpectNoNativeGrowth> noGrowth) {

  /**
   * A leak in every third run must be found. Such a leak makes at least one allocation in three
   * runs, so fewer allocations that have no call site or were not tracked cannot hide it.
   */
  private static final int EVERY = 3;

  private static final int MOST_WARMUPS = 4;

  boolean isEmpty() {
    return most.isEmpty() && freed.isEmpty() && noGrowth.isEmpty();
  }

  /**
   * Runs the test and checks it.
   *
   * @param alone whether no other test runs in the process at the same time
   * @param figures receives the native memory that the runs used, also if the check fails
   * @throws AssertionFailedError if an expectation is not met
   */
  void check(ThisProcess process, Class<?> test, boolean alone, Body body, UseByMetric figures)
      throws Throwable {
    if (most.isPresent()) {
      checkMost(most.get(), process, test, body, figures);
    }
    if (freed.isPresent()) {
      checkFreed(freed.get(), process, test, alone, body, figures);
    }
    if (noGrowth.isPresent()) {
      checkGrowth(noGrowth.get(), process, test, alone, body, figures);
    }
  }

  private static Of whose(Of asked, boolean alone) {
    return alone ? asked : Of.TEST;
  }

  private static void run(Body body, int times) throws Throwable {
    for (int i = 0; i < times; i++) {
      body.run();
    }
  }

  // ---- Checking limits

  private static void checkMost(
      ExpectMaxNative most, ThisProcess process, Class<?> test, Body body, UseByMetric figures)
      throws Throwable {
    Limits limits = new Limits(most.calls(), most.bytes(), most.peak());
    if (most.iterations() < 1) {
      throw new ExtensionConfigurationException("ExpectMaxNative needs at least one iteration");
    }
    try (Watch watch = process.watch(most.of(), test)) {
      // The warm-ups are counted too, so that the classes for counting are loaded before the
      // measured runs.
      for (int i = 0; i < most.warmups(); i++) {
        count(process, most.of(), body);
      }
      List<ScopeCounts> uses = new ArrayList<>();
      LiveReading before = watch.read();
      for (int i = 0; i < most.iterations(); i++) {
        uses.add(count(process, most.of(), body));
      }
      figures.add(uses);
      limits.check(uses, new LiveMemoryChange(watch, test, before, watch.read()));
    }
  }

  static ScopeCounts count(ThisProcess process, Of of, Body body) throws Throwable {
    try (Counting counting = process.count(of)) {
      body.run();
      return counting.use();
    }
  }

  // ---- Checking that memory is freed

  private static void checkFreed(
      ExpectNativeFreed freed,
      ThisProcess process,
      Class<?> test,
      boolean alone,
      Body body,
      UseByMetric figures)
      throws Throwable {
    try (Watch watch = process.watch(whose(freed.of(), alone), test)) {
      run(body, freed.warmups());
      LiveReading before = watch.read();
      body.run();
      LiveMemoryChange measured = new LiveMemoryChange(watch, test, before, watch.read());
      if (measured.withoutSite() == 0) {
        figures.addKept(measured.left());
      }
      checkLeft(measured, freed.allowed());
    }
  }

  /**
   * Fails if more memory is left than allowed. Also fails if an allocation has no call site,
   * because memory that such an allocation leaves is not seen.
   */
  static void checkLeft(LiveMemoryChange measured, long allowed) {
    if (measured.left() > allowed) {
      throw new AssertionFailedError(FailureText.notFreed(allowed, measured));
    }
    if (measured.withoutSite() > 0) {
      throw new AssertionFailedError(FailureText.withoutSites(measured.withoutSite()));
    }
  }

  // ---- Checking that memory does not grow

  private static void checkGrowth(
      ExpectNoNativeGrowth noGrowth,
      ThisProcess process,
      Class<?> test,
      boolean alone,
      Body body,
      UseByMetric figures)
      throws Throwable {
    if (noGrowth.iterations() < Growth.FEWEST) {
      throw new ExtensionConfigurationException(
          "ExpectNoNativeGrowth needs at least " + Growth.FEWEST + " iterations");
    }
    try (Watch watch = process.watch(whose(noGrowth.of(), alone), test)) {
      int warmups = warmUp(noGrowth.warmups(), watch, body);
      // Collects the garbage of the warm-ups, so that its native memory is not freed during the
      // series.
      watch.collectGarbage();
      Series first = series(noGrowth, watch, body);
      figures.addKept(first.kept());
      if (first.growing(noGrowth.perIteration(), true).isEmpty()) {
        failIfUnknown(first, noGrowth, figures);
        return;
      }
      Series again = series(noGrowth, watch, body);
      figures.addKept(again.kept());
      Map<String, Growth> growing = growing(first, again, noGrowth, false);
      boolean waits = growing.isEmpty();
      if (waits && !noGrowth.collectGarbage()) {
        growing = growing(first, again, noGrowth, true);
      }
      if (!growing.isEmpty()) {
        LiveMemoryChange measured =
            new LiveMemoryChange(watch, test, first.before(), again.after());
        double freed = measured.collect();
        if (waits && leastGrowth(growing) > freed) {
          freed = freedAfterMoreRuns(watch, test, body);
        }
        failIfLasting(growing, waits, noGrowth, warmups, measured, freed);
      }
      failIfUnknown(first, noGrowth, figures);
      failIfUnknown(again, noGrowth, figures);
    }
  }

  /**
   * Fails if allocations that have no call site, or that the library could not track, may hide a
   * leak.
   *
   * <p>Allocations without a call site fail the test even if the memory of the process does not
   * grow. HotSpot's own memory may shrink by more than the test leaks, and so hide the leak.
   * Allocations that were not tracked fail the test only if the process grows.
   */
  private static void failIfUnknown(
      Series series, ExpectNoNativeGrowth noGrowth, UseByMetric figures) {
    long withoutSite = series.after().withoutSite() - series.before().withoutSite();
    if (mayHideALeak(withoutSite, series)) {
      figures.forgetKept();
      throw new AssertionFailedError(FailureText.withoutSites(withoutSite));
    }
    long notFollowed = series.after().notFollowed() - series.before().notFollowed();
    if (mayHideALeak(notFollowed, series) && series.processGrows(noGrowth.perIteration())) {
      figures.forgetKept();
      throw new AssertionFailedError(FailureText.notFollowed(notFollowed));
    }
  }

  private static boolean mayHideALeak(long allocations, Series series) {
    return allocations > 0 && allocations >= series.runs() / EVERY;
  }

  /** Returns the call sites that grow in both series, with their growth in the second. */
  private static Map<String, Growth> growing(
      Series first, Series again, ExpectNoNativeGrowth noGrowth, boolean withoutFalls) {
    Map<String, Growth> growing = again.growing(noGrowth.perIteration(), withoutFalls);
    growing.keySet().retainAll(first.growing(noGrowth.perIteration(), withoutFalls).keySet());
    return growing;
  }

  /**
   * Fails if memory keeps growing.
   *
   * @param butForFalls whether growth is found only if runs that reduced the live memory are
   *     ignored. Such growth counts only if a garbage collection frees at least one run's growth,
   *     which shows that the memory is not a pool that is emptied now and then
   * @param freed the bytes that the garbage collection freed
   */
  private static void failIfLasting(
      Map<String, Growth> growing,
      boolean butForFalls,
      ExpectNoNativeGrowth noGrowth,
      int warmups,
      LiveMemoryChange measured,
      double freed) {
    if (butForFalls) {
      growing.values().removeIf(growth -> !(freed >= growth.slope()));
    }
    if (!growing.isEmpty()) {
      throw new AssertionFailedError(
          FailureText.grows(growing, noGrowth, warmups, freed, measured));
    }
  }

  private static double leastGrowth(Map<String, Growth> growing) {
    return growing.values().stream().mapToDouble(Growth::slope).min().orElse(0);
  }

  /**
   * Returns the bytes that a garbage collection frees after a few more runs. A collection right
   * after the series may free nothing, because the JVM had collected by itself at the end of it. A
   * few runs after a collection, the JVM seldom collects by itself.
   */
  private static double freedAfterMoreRuns(Watch watch, Class<?> test, Body body) throws Throwable {
    LiveReading before = watch.read();
    for (int i = 0; i < Growth.FEWEST; i++) {
      body.run();
    }
    return new LiveMemoryChange(watch, test, before, watch.read()).collect();
  }

  private static Series series(ExpectNoNativeGrowth noGrowth, Watch watch, Body body)
      throws Throwable {
    return Series.of(watch, body, noGrowth.iterations(), noGrowth.collectGarbage());
  }

  /**
   * Runs the test until the bytes that a run keeps are steady: at least {@code least} times and at
   * most {@code MOST_WARMUPS * least} times. Returns the number of runs.
   */
  private static int warmUp(int least, Watch watch, Body body) throws Throwable {
    List<Double> live = new ArrayList<>(List.of(watch.read().liveBytes()));
    int runs = 0;
    while (runs < least || runs < MOST_WARMUPS * least && !isSteady(live)) {
      body.run();
      runs++;
      live.add(watch.read().liveBytes());
    }
    return runs;
  }

  private static boolean isSteady(List<Double> live) {
    return Growth.isSteady(live.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
