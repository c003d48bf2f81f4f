package io.mallometer.internal.process;

import io.mallometer.internal.process.BudgetTable.Growing;
import io.mallometer.internal.process.DiagnosticCommands.Command;
import io.mallometer.internal.process.DiagnosticCommands.Option;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Reads the memory of this JVM from the platform's MBeans. */
final class HotSpot {

  private static final class Beans {

    static final @Nullable BufferPoolMXBean DIRECT_BUFFERS = directBuffers();
    static final List<MemoryPoolMXBean> POOLS = ManagementFactory.getMemoryPoolMXBeans();

    private Beans() {}

    private static @Nullable BufferPoolMXBean directBuffers() {
      return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
          .filter(pool -> pool.getName().equals("direct"))
          .findFirst()
          .orElse(null);
    }
  }

  private HotSpot() {}

  static JvmFacts facts() {
    return new JvmFacts(
        JvmRanges.parse(
            DiagnosticCommands.run(Command.HEAP), DiagnosticCommands.run(Command.CODE_CACHE)),
        metadata(),
        kilobytes("ThreadStackSize"),
        Collector.ofThisJvm().largestStructures(maximumHeapBytes().orElse(0)),
        directBytes(),
        NativeMemoryTracking.parse(DiagnosticCommands.run(Command.NATIVE_MEMORY)));
  }

  static BudgetTable.Configuration configuration(OptionalLong threads) {
    return new BudgetTable.Configuration(
        maximumHeapBytes(),
        heapSetting(),
        sharedHeapBytes(),
        new Growing(ifSet("MaxMetaspaceSize"), committed("Metaspace"), OptionalLong.empty()),
        new Growing(
            ifSet("ReservedCodeCacheSize"), committed("Code"), number("ReservedCodeCacheSize")),
        // Runtime.maxMemory() limits direct memory if the option is not set.
        new Growing(
            ifSet("MaxDirectMemorySize"),
            directBytes(),
            OptionalLong.of(Runtime.getRuntime().maxMemory())),
        threads,
        kilobytes("ThreadStackSize"));
  }

  /**
   * Returns the setting that determines the largest heap. The JVM's default percentage of the
   * memory does not count as a setting.
   */
  private static String heapSetting() {
    if (ifSet("MaxHeapSize").isPresent()) {
      return "-Xmx";
    }
    Optional<Option> percentage = DiagnosticCommands.option("MaxRAMPercentage");
    return percentage.isPresent() && !percentage.get().byDefault()
        ? "-XX:MaxRAMPercentage=" + percentage.get().value().replaceAll("\\.0+$", "")
        : "chosen by the JVM; -Xmx is not set";
  }

  private static Metadata metadata() {
    Optional<Option> setting = DiagnosticCommands.option("UseCompressedClassPointers");
    boolean compressed = setting.isEmpty() || setting.get().value().equals("true");
    OptionalLong classes = committed("Compressed Class Space");
    OptionalLong all = committed("Metaspace");
    return new Metadata(
        compressed ? number("CompressedClassSpaceSize") : OptionalLong.empty(),
        classes,
        all.isPresent()
            ? OptionalLong.of(Math.max(0, all.getAsLong() - classes.orElse(0)))
            : OptionalLong.empty());
  }

  /**
   * Returns the largest size of the heap. Prefers the option, because the bean can omit a survivor
   * space.
   */
  private static OptionalLong maximumHeapBytes() {
    OptionalLong option = number("MaxHeapSize");
    if (option.orElse(0) > 0) {
      return option;
    }
    long maximum = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax();
    return maximum < 0 ? OptionalLong.empty() : OptionalLong.of(maximum);
  }

  /**
   * Returns the committed heap of ZGC; 0 for another collector. The heap of ZGC is in a memfd, all
   * pages of which are charged as shared memory.
   */
  private static long sharedHeapBytes() {
    return Collector.ofThisJvm() == Collector.Z
        ? ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted()
        : 0;
  }

  private static OptionalLong directBytes() {
    BufferPoolMXBean pool = Beans.DIRECT_BUFFERS;
    return pool == null ? OptionalLong.empty() : OptionalLong.of(Math.max(0, pool.getMemoryUsed()));
  }

  private static OptionalLong committed(String beginning) {
    OptionalLong sum = OptionalLong.empty();
    for (MemoryPoolMXBean pool : Beans.POOLS) {
      if (pool.getName().startsWith(beginning)) {
        sum = OptionalLong.of(sum.orElse(0) + pool.getUsage().getCommitted());
      }
    }
    return sum;
  }

  /** Returns the used bytes of class metadata, class space included; empty if unknown. */
  static OptionalLong usedMetaspace() {
    for (MemoryPoolMXBean pool : Beans.POOLS) {
      if (pool.getName().equals("Metaspace")) {
        return OptionalLong.of(pool.getUsage().getUsed());
      }
    }
    return OptionalLong.empty();
  }

  private static OptionalLong ifSet(String option) {
    Optional<Option> set = DiagnosticCommands.option(option);
    if (set.isEmpty() || set.get().byDefault()) {
      return OptionalLong.empty();
    }
    OptionalLong value = TextNumbers.decimal(set.get().value());
    return value.orElse(0) > 0 ? value : OptionalLong.empty();
  }

  private static OptionalLong number(String option) {
    Optional<Option> set = DiagnosticCommands.option(option);
    return set.isPresent() ? TextNumbers.decimal(set.get().value()) : OptionalLong.empty();
  }

  private static OptionalLong kilobytes(String option) {
    OptionalLong number = number(option);
    return number.orElse(0) > 0 ? OptionalLong.of(number.getAsLong() * 1024) : OptionalLong.empty();
  }
}
