package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.model.LeakEvidence;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.Setting;
import io.mallometer.model.SiteVerdict;
import io.mallometer.model.Snapshot;
import io.mallometer.model.StackFrame;
import io.mallometer.model.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Allocates objects at two sites, and never accesses them. The addresses of one site's objects are
 * kept, and those of the other site's objects are lost. Ends when a site is a {@code LEAK} because
 * of lost objects, and prints the verdicts.
 *
 * <p>With an argument, no address is lost. The program then ends when a site is a {@code LEAK}
 * because an earlier run recorded the site. Time runs 30 times as fast.
 */
public final class IsToldOfLostMemory {

  private static final int SCALE = 30;
  private static final int BYTES = 40_000;
  private static final long[] KEPT = new long[100_000];
  private static final long[] NOT_LOST = new long[KEPT.length];

  private IsToldOfLostMemory() {}

  public static void main(String[] arguments) throws Throwable {
    boolean loses = arguments.length == 0;
    LeakEvidence awaited = loses ? LeakEvidence.LOST : LeakEvidence.KNOWN;
    CountDownLatch told = new CountDownLatch(1);
    try (Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults()
                .with(Setting.POLL_INTERVAL, Duration.ofMillis(100))
                .with(Setting.LEAK_TIME_SCALE, (double) SCALE))) {
      mallometer.onPoll((Snapshot snapshot) -> tell(mallometer, awaited, told));
      for (int i = 0; i < KEPT.length && told.getCount() > 0; i++) {
        lose(loses ? 0 : i);
        keep(i);
        told.await(20, TimeUnit.MILLISECONDS);
      }
      mallometer.leaks().report().sites().stream()
          .filter(site -> !through(site).isEmpty())
          .forEach(
              site ->
                  System.out.println(
                      String.join("", through(site))
                          + " "
                          + site.verdict()
                          + " "
                          + site.sentence()));
    }
  }

  private static void tell(Mallometer mallometer, LeakEvidence awaited, CountDownLatch told) {
    boolean is =
        mallometer.leaks().report().sites().stream()
            .anyMatch(
                site -> site.verdict() == Verdict.LEAK && site.grounds().evidence() == awaited);
    if (is) {
      told.countDown();
    }
  }

  private static List<String> through(SiteVerdict site) {
    List<String> methods = new ArrayList<>();
    for (StackFrame frame : site.site().frames()) {
      if (frame.owner().endsWith("IsToldOfLostMemory") && !frame.name().equals("main")) {
        methods.add(frame.name());
      }
    }
    return methods;
  }

  /** The address of the object is lost when the next object with the same index replaces it. */
  private static void lose(int i) throws Throwable {
    NOT_LOST[i] = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }

  private static void keep(int i) throws Throwable {
    KEPT[i] = (long) NativeWork.ALLOCATE.invokeExact((long) BYTES);
  }
}
