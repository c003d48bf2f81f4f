package io.mallometer.process;

import io.mallometer.CgroupMemory;
import io.mallometer.ChargedPart;
import io.mallometer.MemoryBudget;
import io.mallometer.MemoryBudget.Line;
import io.mallometer.ResidentMemory;
import io.mallometer.ResidentPart;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What this process may come to need, item by item.
 *
 * <p>An item that somebody bounded counts with its bound, because it may grow to it without
 * anything being wrong. An item without a bound of its own counts with what it takes now.
 */
final class BudgetTable {

  private static final String CONFIGURED = "configured";
  private static final String MEASURED = "measured";

  /**
   * What is configured, and what is used of what may not be.
   *
   * @param maximumHeapBytes the largest heap, set or chosen by the JVM
   * @param metaspaceLimitBytes empty if nobody set MaxMetaspaceSize
   * @param metaspaceBytes committed now, class space included
   * @param codeCacheLimitBytes empty if nobody set ReservedCodeCacheSize
   * @param codeCacheBytes committed now
   * @param directLimitBytes empty if nobody set MaxDirectMemorySize
   * @param directBytes capacity now
   * @param threads threads of the process
   * @param stackBytes size of a Java thread's stack
   */
  record Configuration(
      OptionalLong maximumHeapBytes,
      OptionalLong metaspaceLimitBytes,
      OptionalLong metaspaceBytes,
      OptionalLong codeCacheLimitBytes,
      OptionalLong codeCacheBytes,
      OptionalLong directLimitBytes,
      OptionalLong directBytes,
      OptionalLong threads,
      OptionalLong stackBytes) {}

  private final List<Line> lines = new ArrayList<>();

  private BudgetTable() {}

  /** The table, against the limit of the cgroup if there is one. */
  static MemoryBudget of(
      Configuration configuration, ResidentMemory resident, Optional<CgroupMemory> cgroup) {
    BudgetTable table = new BudgetTable();
    table.addConfigured(configuration);
    table.addNative(resident);
    cgroup.ifPresent(table::addBeside);
    double total = table.lines.stream().mapToDouble(Line::bytes).sum();
    double limit = cgroup.map(CgroupMemory::limitBytes).orElse(Double.NaN);
    return new MemoryBudget(table.lines, total, limit, verdict(total, limit));
  }

  /** What follows from the sums, one sentence. */
  static String verdict(double totalBytes, double limitBytes) {
    if (Double.isNaN(limitBytes)) {
      return "no limit; this configuration may need " + mebibytes(totalBytes);
    }
    return totalBytes > limitBytes
        ? "limit too small by "
            + mebibytes(totalBytes - limitBytes)
            + " for this configuration even without a leak"
        : "limit leaves " + mebibytes(limitBytes - totalBytes) + " above this configuration";
  }

  private void addConfigured(Configuration configuration) {
    configuration
        .maximumHeapBytes()
        .ifPresent(
            bytes ->
                lines.add(new Line("java-heap", bytes, CONFIGURED, "-Xmx, or what the JVM chose")));
    add(
        "metaspace",
        configuration.metaspaceLimitBytes(),
        "-XX:MaxMetaspaceSize",
        configuration.metaspaceBytes());
    add(
        "code-cache",
        configuration.codeCacheLimitBytes(),
        "-XX:ReservedCodeCacheSize",
        configuration.codeCacheBytes());
    add(
        "direct-buffers",
        configuration.directLimitBytes(),
        "-XX:MaxDirectMemorySize",
        configuration.directBytes());
    if (configuration.threads().isPresent() && configuration.stackBytes().isPresent()) {
      long threads = configuration.threads().getAsLong();
      long stack = configuration.stackBytes().getAsLong();
      lines.add(
          new Line(
              "thread-stacks",
              threads * stack,
              CONFIGURED,
              threads + " threads x " + stack / 1024 + " KiB"));
    }
  }

  private void add(String item, OptionalLong limit, String setting, OptionalLong now) {
    if (limit.isPresent()) {
      lines.add(new Line(item, limit.getAsLong(), CONFIGURED, setting));
    } else if (now.isPresent()) {
      lines.add(new Line(item, now.getAsLong(), MEASURED, "now; " + setting + " is not set"));
    }
  }

  private void addNative(ResidentMemory resident) {
    long bytes = 0;
    for (ResidentPart part :
        new ResidentPart[] {
          ResidentPart.GC_AND_JVM,
          ResidentPart.MALLOC_LIVE,
          ResidentPart.MALLOC_RETAINED,
          ResidentPart.MALLOC,
          ResidentPart.MALLOMETER,
          ResidentPart.UNEXPLAINED
        }) {
      bytes += resident.of(part).orElse(0L);
    }
    lines.add(new Line("native", bytes, MEASURED, "now resident: JVM structures and malloc"));
  }

  private void addBeside(CgroupMemory cgroup) {
    long bytes = 0;
    for (ChargedPart part :
        new ChargedPart[] {
          ChargedPart.OTHER_PROCESSES, ChargedPart.KERNEL, ChargedPart.SOCKETS, ChargedPart.TMPFS
        }) {
      bytes += cgroup.bytes().getOrDefault(part, 0L);
    }
    lines.add(
        new Line(
            "beside", bytes, MEASURED, "now charged: other processes, kernel, sockets, tmpfs"));
  }

  private static String mebibytes(double bytes) {
    return String.format(Locale.ROOT, "%.0f MiB", bytes / (1 << 20));
  }
}
