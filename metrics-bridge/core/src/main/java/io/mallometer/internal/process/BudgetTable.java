package io.mallometer.internal.process;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ChargedPart;
import io.mallometer.model.Diagnosis.Limit;
import io.mallometer.model.MemoryBudget;
import io.mallometer.model.MemoryBudget.Line;
import io.mallometer.model.ProcessMemory;
import io.mallometer.model.ResidentMemory;
import io.mallometer.model.ResidentPart;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Lists the memory that this process may need, item by item. An item with a configured limit counts
 * with the limit, because growth up to the limit is not a fault. Another item counts with its
 * present size.
 */
final class BudgetTable {

  private static final String CONFIGURED = "configured";
  private static final String MEASURED = "measured";

  /**
   * The sizes in bytes of memory that can grow, such as metaspace.
   *
   * @param limit the limit that a person set; empty without one
   * @param most the limit that the JVM itself sets; empty without one
   */
  record Growing(OptionalLong limit, OptionalLong now, OptionalLong most) {}

  /**
   * The configured limits, and the present sizes of items that may have no limit.
   *
   * @param heapSetting the setting or default that determines the largest heap
   * @param sharedHeapBytes the heap that is charged as shared memory: 0 except with ZGC
   * @param metaspace {@code MaxMetaspaceSize}, and the committed bytes, class space included
   * @param codeCache {@code ReservedCodeCacheSize}, and the committed bytes
   * @param direct {@code MaxDirectMemorySize}, and the capacity of the direct buffers
   * @param stackBytes the size of a Java thread's stack
   */
  record Configuration(
      OptionalLong maximumHeapBytes,
      String heapSetting,
      long sharedHeapBytes,
      Growing metaspace,
      Growing codeCache,
      Growing direct,
      OptionalLong threads,
      OptionalLong stackBytes) {}

  private final List<Line> lines = new ArrayList<>();

  private BudgetTable() {}

  /**
   * Returns the memory budget. A limit that an option states covers this process only. A cgroup's
   * limit also covers the other memory that is charged to the cgroup.
   */
  static MemoryBudget of(
      Configuration configuration, ResidentMemory resident, ProcessMemory memory) {
    BudgetTable table = new BudgetTable();
    table.addConfigured(configuration);
    table.addNative(resident);
    Limit limit = memory.setLimit();
    if (limit.source().equals(Limit.STATED)) {
      table.addShared(resident);
    } else if (memory.cgroup().isPresent()) {
      table.addBeside(memory.cgroup().get(), configuration.sharedHeapBytes());
    }
    double total = table.lines.stream().mapToDouble(Line::bytes).sum();
    return new MemoryBudget(
        table.lines,
        total,
        limit.bytes(),
        verdict(total, held(resident), limit.bytes(), memory.machineBytes()));
  }

  /**
   * Returns the memory that native code holds: malloc's live bytes or, if live bytes are not
   * counted, all resident bytes of malloc.
   */
  private static long held(ResidentMemory resident) {
    return resident.of(ResidentPart.MALLOC_LIVE).orElse(0L)
        + resident.of(ResidentPart.MALLOC).orElse(0L);
  }

  static String verdict(
      double totalBytes, double heldBytes, double limitBytes, double machineBytes) {
    if (Double.isNaN(limitBytes)) {
      return "no limit is set; this configuration may need "
          + HumanText.roundedBytes(totalBytes)
          + (Double.isNaN(machineBytes)
              ? ""
              : " of the machine's " + HumanText.roundedBytes(machineBytes));
    }
    double excess = totalBytes - limitBytes;
    if (excess <= 0) {
      return "limit leaves "
          + HumanText.roundedBytes(limitBytes - totalBytes)
          + " above this configuration";
    }
    return "limit too small by "
        + HumanText.roundedBytes(excess)
        + " for this configuration "
        + (excess > heldBytes
            ? "even without a leak"
            : "and the "
                + HumanText.roundedBytes(heldBytes)
                + " that native code has allocated, which may be a leak");
  }

  private void addConfigured(Configuration configuration) {
    OptionalLong heap = configuration.maximumHeapBytes();
    if (heap.isPresent()) {
      lines.add(
          new Line(
              ResidentPart.JAVA_HEAP.tag(),
              heap.getAsLong(),
              CONFIGURED,
              configuration.heapSetting(),
              heap.getAsLong()));
    }
    add(ResidentPart.METASPACE.tag(), "-XX:MaxMetaspaceSize", configuration.metaspace());
    add(ResidentPart.CODE_CACHE.tag(), "-XX:ReservedCodeCacheSize", configuration.codeCache());
    add(ResidentPart.DIRECT_BUFFERS.tag(), "-XX:MaxDirectMemorySize", configuration.direct());
    if (configuration.threads().isPresent() && configuration.stackBytes().isPresent()) {
      long threads = configuration.threads().getAsLong();
      long stack = configuration.stackBytes().getAsLong();
      String sizes = threads + " threads x " + stack / 1024 + " KiB";
      add(ResidentPart.THREAD_STACKS.tag(), threads * stack, CONFIGURED, sizes);
    }
  }

  private void add(String item, String setting, Growing growing) {
    if (growing.limit().isPresent()) {
      long limit = growing.limit().getAsLong();
      lines.add(new Line(item, limit, CONFIGURED, setting, limit));
    } else if (growing.now().isPresent()) {
      String bound =
          growing.most().isPresent()
              ? "it may reach " + HumanText.roundedBytes(growing.most().getAsLong())
              : "no setting limits it";
      lines.add(
          new Line(
              item,
              growing.now().getAsLong(),
              MEASURED,
              "now; " + setting + " is not set, " + bound,
              growing.most().isPresent() ? growing.most().getAsLong() : Double.NaN));
    }
  }

  private void addNative(ResidentMemory resident) {
    long bytes = resident.copiedFileBytes();
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
    add("native", bytes, MEASURED, "now resident: JVM structures, malloc, copied file pages");
  }

  private void addShared(ResidentMemory resident) {
    long bytes = resident.of(ResidentPart.SHARED_MEMORY).orElse(0L);
    if (bytes > 0) {
      add(ResidentPart.SHARED_MEMORY.tag(), bytes, MEASURED, "now resident");
    }
  }

  /**
   * Adds the other memory that is charged to the cgroup. A Java heap in shared memory is
   * subtracted, because the table has it already.
   */
  private void addBeside(CgroupMemory cgroup, long sharedHeap) {
    long bytes = Math.max(0, cgroup.parts().getOrDefault(ChargedPart.TMPFS, 0L) - sharedHeap);
    for (ChargedPart part :
        new ChargedPart[] {ChargedPart.OTHER_PROCESSES, ChargedPart.KERNEL, ChargedPart.SOCKETS}) {
      bytes += cgroup.parts().getOrDefault(part, 0L);
    }
    add("beside", bytes, MEASURED, "now charged: other processes, kernel, sockets, tmpfs");
  }

  private void add(String item, long bytes, String basis, String explanation) {
    lines.add(new Line(item, bytes, basis, explanation, Double.NaN));
  }
}
