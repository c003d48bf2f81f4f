package io.mallometer.process;

import io.mallometer.process.BudgetTable.Growing;
import io.mallometer.process.DiagnosticCommands.Command;
import io.mallometer.process.DiagnosticCommands.Option;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What this JVM says about itself, through the platform's MBeans. */
final class HotSpot {

  /** Found once: looking for a bean among all of the platform's takes longer than asking it. */
  private static final class Beans {

    static final @Nullable BufferPoolMXBean DIRECT_BUFFERS = directBuffers();
    static final List<MemoryPoolMXBean> POOLS = ManagementFactory.getMemoryPoolMXBeans();

    private Beans() {}

    private static @Nullable BufferPoolMXBean directBuffers() {
      for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
        if (pool.getName().equals("direct")) {
          return pool;
        }
      }
      return null;
    }
  }

  private HotSpot() {}

  /** What a split needs. */
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

  /** What a budget needs. */
  static BudgetTable.Configuration configuration(OptionalLong threads) {
    return new BudgetTable.Configuration(
        maximumHeapBytes(),
        heapSetting(),
        sharedHeapBytes(),
        new Growing(
            ifSet("MaxMetaspaceSize"),
            committed(pool -> pool.equals("Metaspace")),
            OptionalLong.empty()),
        new Growing(
            ifSet("ReservedCodeCacheSize"),
            committed(pool -> pool.startsWith("Code")),
            number("ReservedCodeCacheSize")),
        // Its default is what Runtime.maxMemory() says.
        new Growing(
            ifSet("MaxDirectMemorySize"),
            directBytes(),
            OptionalLong.of(Runtime.getRuntime().maxMemory())),
        threads,
        kilobytes("ThreadStackSize"));
  }

  /** A percentage also counts if it is the JVM's default: then nobody set anything. */
  private static String heapSetting() {
    if (ifSet("MaxHeapSize").isPresent()) {
      return "-Xmx";
    }
    String percentage = DiagnosticCommands.option("MaxRAMPercentage").map(Option::value).orElse("");
    boolean set =
        DiagnosticCommands.option("MaxRAMPercentage").filter(o -> !o.byDefault()).isPresent();
    return set
        ? "-XX:MaxRAMPercentage=" + percentage.replaceAll("\\.0+$", "")
        : "chosen by the JVM; -Xmx is not set";
  }

  private static Metadata metadata() {
    boolean compressed =
        DiagnosticCommands.option("UseCompressedClassPointers")
            .map(option -> option.value().equals("true"))
            .orElse(true);
    OptionalLong classes = committed(pool -> pool.equals("Compressed Class Space"));
    OptionalLong all = committed(pool -> pool.equals("Metaspace"));
    return new Metadata(
        compressed ? number("CompressedClassSpaceSize") : OptionalLong.empty(),
        classes,
        all.isPresent()
            ? OptionalLong.of(Math.max(0, all.getAsLong() - classes.orElse(0)))
            : OptionalLong.empty());
  }

  /** The bean leaves out a survivor space where only one of two can be in use. */
  private static OptionalLong maximumHeapBytes() {
    OptionalLong option = number("MaxHeapSize");
    if (option.orElse(0) > 0) {
      return option;
    }
    long maximum = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax();
    return maximum < 0 ? OptionalLong.empty() : OptionalLong.of(maximum);
  }

  /** ZGC keeps its heap in a memfd, all committed pages of which are charged. */
  private static long sharedHeapBytes() {
    return Collector.ofThisJvm() == Collector.Z
        ? ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted()
        : 0;
  }

  private static OptionalLong directBytes() {
    BufferPoolMXBean pool = Beans.DIRECT_BUFFERS;
    return pool == null ? OptionalLong.empty() : OptionalLong.of(Math.max(0, pool.getMemoryUsed()));
  }

  private static OptionalLong committed(Predicate<String> name) {
    OptionalLong sum = OptionalLong.empty();
    for (MemoryPoolMXBean pool : Beans.POOLS) {
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
