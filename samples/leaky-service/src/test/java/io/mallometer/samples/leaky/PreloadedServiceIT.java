package io.mallometer.samples.leaky;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares the library's figures with the bytes that the service knows it lost. Each leak runs
 * alone, so fast that a few seconds of it exceed the JVM's own variation, which is a few MiB after
 * the warm-up.
 */
class PreloadedServiceIT {
  private static final long MIB = 1 << 20;
  private static final long RATE = 4 * MIB;
  private static final int REPORTS_PER_SECOND = 30;
  private static final int LEAKING_SECONDS = 5;
  private static final int WARM_UP_SECONDS = 10;
  private static final int POLLS_SECONDS = 1;
  private static final int POLLS = 2;

  private static PreloadedService service;

  @BeforeAll
  static void start() throws Exception {
    service =
        PreloadedService.start(
            "--leaky.leaks.rate=" + RATE + "B",
            "--leaky.load.reports-per-second=" + REPORTS_PER_SECOND,
            "--mallometer.max-scopes=20",
            "--mallometer.poll-interval=250ms");
    sleepSeconds(WARM_UP_SECONDS);
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

  @Test
  void aServiceThatWasProcessedAheadOfTimeIsCountedToo() throws Exception {
    try (PreloadedService processed =
        PreloadedService.startProcessed("--mallometer.poll-interval=250ms")) {
      assertThat(processed.output()).contains("Starting AOT-processed ");
      assertThat(processed.metric("mallometer_active")).isEqualTo(1);
      assertThat(processed.metric("native_malloc_request_size_bytes_count")).isPositive();
      assertThat(processed.output()).doesNotContain("WARNING:", "Exception");
    }
  }

  @ParameterizedTest
  @Tag("any-jdk")
  @EnumSource(Leak.class)
  void liveBytesRiseByWhatALeakLosesAndNoMoreOnceItIsOff(Leak leak) throws Exception {
    // The first use of a library allocates memory that is no leak.
    service.turn(leak, true);
    sleepSeconds(POLLS_SECONDS);
    service.turn(leak, false);
    double before = live();
    long lostBefore = service.turn(leak, true);
    sleepSeconds(LEAKING_SECONDS);
    long lost = service.turn(leak, false) - lostBefore;
    double afterLeaking = live();

    assertThat((double) lost).isCloseTo(LEAKING_SECONDS * RATE, Percentage.withPercentage(20));
    assertThat(afterLeaking - before).isBetween(0.8 * lost, 1.25 * lost);

    sleepSeconds(LEAKING_SECONDS);
    assertThat(live() - afterLeaking).isLessThan(0.2 * lost);
  }

  /** An open archive keeps 268,200 bytes. No other report is produced meanwhile. */
  @Test
  @Tag("any-jdk")
  void aRouteThatKeepsNativeMemoryStandsOut() {
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

  /** Returns the lowest live bytes of the next polls: a compiler may use some MiB for a moment. */
  private static double live() throws InterruptedException {
    double lowest = Double.MAX_VALUE;
    for (int i = 0; i < POLLS; i++) {
      sleepSeconds(POLLS_SECONDS);
      lowest = Math.min(lowest, service.metric("native_malloc_live_bytes"));
    }
    return lowest;
  }

  private static void sleepSeconds(int seconds) throws InterruptedException {
    Thread.sleep(seconds * 1000L);
  }
}
