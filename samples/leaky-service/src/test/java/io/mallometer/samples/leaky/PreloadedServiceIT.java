package io.mallometer.samples.leaky;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the library's figures with the bytes that the service says it lost. Each leak runs alone
 * and loses more in a few seconds than the few MiB by which the JVM's own memory varies.
 */
class PreloadedServiceIT {
  private static final long MIB = 1 << 20;
  private static final long RATE = 4 * MIB;
  private static final int REPORTS_PER_SECOND = 30;
  private static final int LEAKING_SECONDS = 5;
  private static final int WARM_UP_SECONDS = 10;
  private static final int POLL_MILLISECONDS = 500;
  private static final int POLLS = 3;

  private static PreloadedService service;
  private static boolean warm;

  @BeforeAll
  static void start() throws Exception {
    service =
        PreloadedService.start(
            "--leaky.leaks.rate=" + RATE + "B",
            "--leaky.load.reports-per-second=" + REPORTS_PER_SECOND,
            "--mallometer.max-scopes=20",
            "--mallometer.poll-interval=250ms");
  }

  @AfterAll
  static void stop() throws Exception {
    if (service != null) {
      service.close();
    }
  }

  @Test
  void nativeMemoryIsCountedWithoutAnyWarningOfTheJvm() {
    assertThat(service.metric("mallometer_active")).isEqualTo(1);
    assertThat(service.metric("native_malloc_allocations_total")).isPositive();
    assertThat(service.metric("mallometer_application_info")).isEqualTo(1);
    assertThat(service.output()).doesNotContain("WARNING:", "Exception");
  }

  /** A leak that continued after it was switched off would add to the bytes of the next leak. */
  @Test
  @Tag("any-jdk")
  void liveBytesRiseByWhatEachLeakLosesAndNoMoreOnceAllAreOff() throws Exception {
    warmUp();
    double before = live();
    long lost = 0;
    for (Leak leak : Leak.values()) {
      long lostBefore = service.turn(leak, true);
      sleepSeconds(LEAKING_SECONDS);
      lost = service.turn(leak, false) - lostBefore;
      double after = live();

      assertThat((double) lost)
          .as(leak.label())
          .isCloseTo(LEAKING_SECONDS * RATE, Percentage.withPercentage(20));
      assertThat(after - before).as(leak.label()).isBetween(0.8 * lost, 1.25 * lost);
      before = after;
    }

    sleepSeconds(LEAKING_SECONDS);
    assertThat(live() - before).isLessThan(0.2 * lost);
  }

  /**
   * The test stops the load, so that only its own requests create deflaters. A leaked deflater
   * keeps 268,200 bytes.
   */
  @Test
  @Tag("any-jdk")
  void aRouteThatKeepsNativeMemoryStandsOut() throws Exception {
    warmUp();
    service.post("/load?reportsPerSecond=0");
    service.post("/reports");
    double before = service.metric("native_scope_net_bytes", "uri=\"/reports\"");
    long lostBefore = service.turn(Leak.ZLIB, true);
    for (int i = 0; i < 50; i++) {
      service.post("/reports");
      service.get("/reports/latest");
    }
    long lost = service.turn(Leak.ZLIB, false) - lostBefore;
    service.post("/load?reportsPerSecond=" + REPORTS_PER_SECOND);

    assertThat(lost).isGreaterThan(MIB);
    assertThat(service.metric("native_scope_net_bytes", "uri=\"/reports\"") - before)
        .isCloseTo(lost, Percentage.withPercentage(25));
    assertThat(service.metric("native_scope_net_bytes", "uri=\"/reports/latest\""))
        .isLessThan(0.25 * lost);
  }

  /** Switches all leaks on, then off, because the first use of a library allocates memory. */
  private static void warmUp() throws InterruptedException {
    if (!warm) {
      for (boolean on : new boolean[] {true, false}) {
        for (Leak leak : Leak.values()) {
          service.turn(leak, on);
        }
        sleepSeconds(WARM_UP_SECONDS / 2);
      }
      warm = true;
    }
  }

  /**
   * Returns the lowest of several readings, because the JVM's compiler may use some MiB for a
   * moment.
   */
  private static double live() throws InterruptedException {
    double lowest = Double.MAX_VALUE;
    for (int i = 0; i < POLLS; i++) {
      Thread.sleep(POLL_MILLISECONDS);
      lowest = Math.min(lowest, service.metric("native_malloc_live_bytes"));
    }
    return lowest;
  }

  private static void sleepSeconds(int seconds) throws InterruptedException {
    Thread.sleep(seconds * 1000L);
  }
}
