package io.mallometer.process;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.OptionalLong;
import java.util.function.Predicate;

/** What this JVM says about itself, through the platform's MBeans. */
final class HotSpot {

  private HotSpot() {}

  /** What a split needs. */
  static JvmFacts facts() {
    return new JvmFacts(
        JvmRanges.parse(
            DiagnosticCommands.run("gcHeapInfo"), DiagnosticCommands.run("compilerCodecache")),
        classSpaceBytes(),
        maximumHeapBytes(),
        directBytes(),
        NativeMemoryTracking.parse(DiagnosticCommands.run("vmNativeMemory", "summary", "scale=1")));
  }

  /** What a budget needs. */
  static BudgetTable.Configuration configuration(OptionalLong threads) {
    return new BudgetTable.Configuration(
        maximumHeapBytes(),
        ifSet("MaxMetaspaceSize"),
        committed(pool -> pool.equals("Metaspace")),
        ifSet("ReservedCodeCacheSize"),
        committed(pool -> pool.startsWith("Code")),
        ifSet("MaxDirectMemorySize"),
        directBytes(),
        threads,
        kilobytes("ThreadStackSize"));
  }

  private static OptionalLong classSpaceBytes() {
    boolean compressed =
        DiagnosticCommands.option("UseCompressedClassPointers")
            .map(option -> option.value().equals("true"))
            .orElse(true);
    return compressed ? number("CompressedClassSpaceSize") : OptionalLong.empty();
  }

  private static OptionalLong maximumHeapBytes() {
    long maximum = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax();
    return maximum < 0 ? OptionalLong.empty() : OptionalLong.of(maximum);
  }

  private static OptionalLong directBytes() {
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      if (pool.getName().equals("direct")) {
        return OptionalLong.of(Math.max(0, pool.getMemoryUsed()));
      }
    }
    return OptionalLong.empty();
  }

  private static OptionalLong committed(Predicate<String> name) {
    OptionalLong sum = OptionalLong.empty();
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (name.test(pool.getName())) {
        sum = OptionalLong.of(sum.orElse(0) + pool.getUsage().getCommitted());
      }
    }
    return sum;
  }

  private static OptionalLong ifSet(String option) {
    return DiagnosticCommands.option(option)
        .filter(set -> !set.byDefault())
        .map(set -> Figures.decimal(set.value()))
        .filter(value -> value.orElse(0) > 0)
        .orElse(OptionalLong.empty());
  }

  private static OptionalLong number(String option) {
    return DiagnosticCommands.option(option)
        .map(set -> Figures.decimal(set.value()))
        .orElse(OptionalLong.empty());
  }

  private static OptionalLong kilobytes(String option) {
    OptionalLong number = number(option);
    return number.orElse(0) > 0 ? OptionalLong.of(number.getAsLong() * 1024) : OptionalLong.empty();
  }
}
