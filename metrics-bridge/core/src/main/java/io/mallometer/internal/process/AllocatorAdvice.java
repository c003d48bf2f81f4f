package io.mallometer.internal.process;

import io.mallometer.model.Advice;
import io.mallometer.model.AllocatorStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Suggests settings that reduce the memory that the allocator retains.
 *
 * <p>A suggestion needs an expected gain of at least 32 MiB and 5 % of the memory limit; some
 * suggestions need more. Without a limit, the resident set takes its place. A setting that an
 * environment variable already makes is not suggested. Free memory counts only if it is resident.
 */
public final class AllocatorAdvice {

  private static final double MEBIBYTE = 1 << 20;

  /**
   * The state of the process on which advice depends.
   *
   * @param statistics the allocator's own statistics
   * @param retainedResidentBytes the free memory of the allocator that is resident; {@code NaN} if
   *     unknown
   * @param residentBytes the resident set of the process
   * @param limitBytes the limit that a person set; {@code NaN} without one
   * @param processors the number of processors within the cgroup's quota
   * @param environment the environment variables
   */
  public record Situation(
      AllocatorStatistics statistics,
      double retainedResidentBytes,
      double residentBytes,
      double limitBytes,
      int processors,
      Map<String, String> environment) {

    private boolean isSet(String variable, String tunable) {
      return environment.containsKey(variable)
          || environment.getOrDefault("GLIBC_TUNABLES", "").contains(tunable + "=");
    }
  }

  private final Situation situation;
  private final AllocatorStatistics statistics;
  private final List<Advice> advice = new ArrayList<>();

  private AllocatorAdvice(Situation situation) {
    this.situation = situation;
    this.statistics = situation.statistics();
  }

  public static List<Advice> of(Situation situation) {
    AllocatorAdvice advice = new AllocatorAdvice(situation);
    switch (situation.statistics().kind()) {
      case GLIBC -> {
        advice.aboutArenas();
        advice.aboutThresholds();
        advice.aboutTrims();
        advice.aboutFragmentation();
      }
      case JEMALLOC, TCMALLOC -> advice.aboutDecay();
      default -> {
        // The allocator reports too little for advice.
      }
    }
    return List.copyOf(advice.advice);
  }

  private void aboutArenas() {
    int enough = Math.max(2, 2 * situation.processors());
    if (statistics.arenas() > enough
        && matters(situation.retainedResidentBytes(), 32, 0.05)
        && !situation.isSet("MALLOC_ARENA_MAX", "glibc.malloc.arena_max")) {
      add(
          "arenas",
          "%.0f arenas serve a process that may use %d processors, and keep %s of free memory resident;"
                  .formatted(
                      statistics.arenas(),
                      situation.processors(),
                      mebibytes(situation.retainedResidentBytes()))
              + " glibc makes up to 8 for each processor of the machine and ignores the CPU quota",
          "MALLOC_ARENA_MAX=" + enough);
    }
  }

  private void aboutThresholds() {
    double ends = 0;
    for (AllocatorStatistics.Arena arena : statistics.byArena()) {
      ends += arena.topBytes();
    }
    double resident = Math.min(ends, situation.retainedResidentBytes());
    if (matters(resident, 64, 0.1)
        && !situation.isSet("MALLOC_TRIM_THRESHOLD_", "glibc.malloc.trim_threshold")) {
      add(
          "trim-threshold",
          "%s is free at the ends of the arenas, where glibc retains up to a threshold that grows"
                  .formatted(mebibytes(resident))
              + " to 64 MiB as large objects are freed; a threshold that is set stays, and objects"
              + " above 128 KiB are mapped singly again",
          "MALLOC_TRIM_THRESHOLD_=131072");
    }
  }

  private void aboutTrims() {
    if (matters(statistics.trimmableBytes(), 64, 0.1)) {
      add(
          "trim",
          wouldComeBack() + ", which glibc does not do by itself",
          "mallometer.trim.interval=5m (Spring Boot), or -XX:TrimNativeHeapInterval=300000");
    }
  }

  private void aboutFragmentation() {
    double retained = situation.retainedResidentBytes();
    if (matters(retained, 128, 0.2) && statistics.releasableBytes() < retained / 2) {
      add(
          "allocator",
          "%s of free memory is resident, and a trim could give back at most %s of it: the rest is"
                  .formatted(mebibytes(retained), mebibytes(statistics.releasableBytes()))
              + " pieces smaller than a page between live objects, which another allocator packs"
              + " better",
          "LD_PRELOAD="
              + situation.environment().getOrDefault("LD_PRELOAD", "libmallometer.so")
              + ":libjemalloc.so.2");
    }
  }

  private void aboutDecay() {
    String setting = statistics.kind().setting();
    if (matters(statistics.trimmableBytes(), 64, 0.1)
        && !situation.environment().containsKey(setting.substring(0, setting.indexOf('=')))) {
      add(
          "decay",
          wouldComeBack() + "; with a shorter delay the allocator returns memory by itself",
          setting);
    }
  }

  private String wouldComeBack() {
    return "a trim would give back at least %s, %.0f %% of the resident set"
        .formatted(
            mebibytes(statistics.trimmableBytes()),
            100 * statistics.trimmableBytes() / situation.residentBytes());
  }

  /** Returns whether a gain is large enough for advice; false for an unknown gain, {@code NaN}. */
  private boolean matters(double bytes, int leastMebibytes, double leastShare) {
    double reference =
        Double.isNaN(situation.limitBytes()) ? situation.residentBytes() : situation.limitBytes();
    return bytes >= leastMebibytes * MEBIBYTE && bytes >= leastShare * reference;
  }

  private void add(String topic, String reason, String setting) {
    advice.add(new Advice(topic, reason, setting));
  }

  private static String mebibytes(double bytes) {
    return String.format(Locale.ROOT, "%.0f MiB", bytes / MEBIBYTE);
  }
}
