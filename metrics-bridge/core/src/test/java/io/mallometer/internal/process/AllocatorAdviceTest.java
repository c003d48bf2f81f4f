package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorKind;
import io.mallometer.model.AllocatorStatistics;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the advice on memory that the allocator retains. The numbers are in MiB. */
@Tag("any-jdk")
class AllocatorAdviceTest {

  private static final double UNKNOWN = Double.NaN;

  @Test
  void aHealthyProcessIsToldNothing() {
    assertThat(advice(glibc(4, 10, 20, 5), 20, 500, 1000, 2)).isEmpty();
  }

  @Test
  void manyArenasOnFewProcessorsAreToldWithTheirNumbers() {
    List<Advice> advice = advice(glibc(64, 10, 30, 5), 60, 500, 1000, 2);

    assertThat(advice).extracting(Advice::topic).containsExactly("arenas");
    assertThat(advice.get(0).reason())
        .startsWith("64 arenas serve a process that may use 2 processors, and keep 60 MiB");
    assertThat(advice.get(0).setting()).isEqualTo("MALLOC_ARENA_MAX=4");
  }

  @Test
  void manyArenasThatKeepLittleAreFine() {
    assertThat(advice(glibc(64, 10, 30, 5), 31, 500, UNKNOWN, 2)).isEmpty();
    // The retained 60 MiB are less than a twentieth of the limit.
    assertThat(advice(glibc(64, 10, 30, 5), 60, 500, 1300, 2)).isEmpty();
  }

  @Test
  void asManyArenasAsTheProcessorsNeedAreFine() {
    assertThat(advice(glibc(64, 10, 30, 5), 60, 500, 1000, 32)).isEmpty();
  }

  @Test
  void whatIsSetAlreadyIsNotAdvised() {
    assertThat(advice(glibc(64, 10, 30, 5), 60, 500, 1000, 2, Map.of("MALLOC_ARENA_MAX", "20")))
        .isEmpty();
    assertThat(
            advice(
                glibc(64, 10, 30, 5),
                60,
                500,
                1000,
                2,
                Map.of("GLIBC_TUNABLES", "glibc.malloc.arena_max=20")))
        .isEmpty();
  }

  @Test
  void aTrimIsAdvisedByWhatItWouldGiveBack() {
    List<Advice> advice = advice(glibc(4, 200, 220, 5), 250, 1000, UNKNOWN, 2);

    assertThat(advice).extracting(Advice::topic).containsExactly("trim");
    assertThat(advice.get(0).reason())
        .startsWith("a trim would give back at least 200 MiB, 20 % of the resident set");
    assertThat(advice.get(0).setting()).contains("mallometer.trim.interval=5m");
  }

  @Test
  void freePiecesThatNoTrimReachesAdviseAnotherAllocator() {
    List<Advice> advice =
        advice(
            glibc(4, 20, 60, 5), 300, 1000, 1200, 4, Map.of("LD_PRELOAD", "/opt/libmallometer.so"));

    assertThat(advice).extracting(Advice::topic).containsExactly("allocator");
    assertThat(advice.get(0).reason())
        .startsWith(
            "300 MiB of free memory is resident, and a trim could give back at most 60 MiB");
    assertThat(advice.get(0).setting())
        .isEqualTo("LD_PRELOAD=/opt/libmallometer.so:libjemalloc.so.2");
  }

  @Test
  void freeEndsOfArenasAdviseAThreshold() {
    List<Advice> advice = advice(glibc(4, 10, 80, 200), 150, 1000, UNKNOWN, 4);

    assertThat(advice).extracting(Advice::topic).containsExactly("trim-threshold");
    assertThat(advice.get(0).reason()).startsWith("150 MiB is free at the ends of the arenas");
    assertThat(advice.get(0).setting()).isEqualTo("MALLOC_TRIM_THRESHOLD_=131072");
    assertThat(
            advice(
                glibc(4, 10, 80, 200),
                150,
                1000,
                UNKNOWN,
                4,
                Map.of("MALLOC_TRIM_THRESHOLD_", "1000000")))
        .isEmpty();
  }

  @Test
  void otherAllocatorsAreToldToGiveBackSooner() {
    List<Advice> jemalloc =
        advice(statistics(AllocatorKind.JEMALLOC, 8, 150, 150, 0), UNKNOWN, 1000, UNKNOWN, 2);
    assertThat(jemalloc)
        .extracting(Advice::setting)
        .containsExactly("MALLOC_CONF=background_thread:true,dirty_decay_ms:1000");

    List<Advice> tcmalloc =
        advice(statistics(AllocatorKind.TCMALLOC, 8, 150, 150, 0), UNKNOWN, 1000, UNKNOWN, 2);
    assertThat(tcmalloc).extracting(Advice::setting).containsExactly("TCMALLOC_RELEASE_RATE=10");

    assertThat(
            advice(
                statistics(AllocatorKind.JEMALLOC, 8, 150, 150, 0),
                UNKNOWN,
                1000,
                UNKNOWN,
                2,
                Map.of("MALLOC_CONF", "narenas:2")))
        .isEmpty();
  }

  @Test
  void nothingIsAdvisedByWhatIsUnknown() {
    assertThat(advice(glibc(64, UNKNOWN, 300, 200), UNKNOWN, 1000, UNKNOWN, 2)).isEmpty();
    assertThat(
            advice(
                statistics(AllocatorKind.MIMALLOC, UNKNOWN, UNKNOWN, UNKNOWN, 0),
                UNKNOWN,
                UNKNOWN,
                UNKNOWN,
                2))
        .isEmpty();
  }

  private static List<Advice> advice(
      AllocatorStatistics statistics,
      double retainedResident,
      double resident,
      double limit,
      int processors) {
    return advice(statistics, retainedResident, resident, limit, processors, Map.of());
  }

  private static List<Advice> advice(
      AllocatorStatistics statistics,
      double retainedResident,
      double resident,
      double limit,
      int processors,
      Map<String, String> environment) {
    return AllocatorAdvice.of(
        new AllocatorAdvice.Situation(
            statistics,
            mebibytes(retainedResident),
            mebibytes(resident),
            mebibytes(limit),
            processors,
            environment));
  }

  private static AllocatorStatistics glibc(
      double arenas, double trimmable, double releasable, long ends) {
    return statistics(AllocatorKind.GLIBC, arenas, trimmable, releasable, ends);
  }

  private static AllocatorStatistics statistics(
      AllocatorKind kind, double arenas, double trimmable, double releasable, long ends) {
    return new AllocatorStatistics(
        Instant.EPOCH,
        kind,
        arenas,
        mebibytes(900),
        mebibytes(500),
        mebibytes(400),
        0,
        mebibytes(releasable),
        UNKNOWN,
        mebibytes(trimmable),
        0,
        List.of(
            new AllocatorStatistics.Arena(0, 0, 0, 0, 0, ends << 19),
            new AllocatorStatistics.Arena(1, 0, 0, 0, 0, ends << 19)),
        List.of(),
        0.001);
  }

  private static double mebibytes(double number) {
    return number * (1 << 20);
  }
}
