package io.mallometer.view;

import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ProcessMemory;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What {@code nativememory/cgroup} answers: the memory cgroup as the kernel accounts for it.
 * Outside a cgroup everything is null or empty.
 *
 * @param version 1 or 2
 * @param chargedBytes what is charged now: the sum of the parts
 * @param parts what it is
 * @param limitBytes the lowest limit in force; null without one
 * @param highBytes above it the kernel slows down and reclaims; null without one
 * @param workingSetBytes charged without inactive files, as Kubernetes evicts by
 * @param swapBytes in swap
 * @param events how often something happened, by the kernel's name
 * @param pressure time lost waiting for memory; null if the kernel does not tell
 */
public record CgroupView(
    @Nullable Integer version,
    @Nullable Long chargedBytes,
    List<BreakdownView.Part> parts,
    @Nullable Long limitBytes,
    @Nullable Long highBytes,
    @Nullable Long workingSetBytes,
    @Nullable Long swapBytes,
    Map<String, Long> events,
    @Nullable Pressure pressure)
    implements View {

  /**
   * Time in which tasks of the cgroup waited for memory.
   *
   * @param someSeconds at least one waited; only grows
   * @param fullSeconds all waited; only grows
   * @param someRatio10s share of the last ten seconds in which at least one waited
   * @param fullRatio10s share of the last ten seconds in which all waited
   */
  public record Pressure(
      @Nullable Double someSeconds,
      @Nullable Double fullSeconds,
      @Nullable Double someRatio10s,
      @Nullable Double fullRatio10s) {

    private static Pressure of(CgroupMemory.Pressure pressure) {
      return new Pressure(
          NativeMemoryView.knownOrNull(pressure.someSeconds()),
          NativeMemoryView.knownOrNull(pressure.fullSeconds()),
          NativeMemoryView.knownOrNull(pressure.someRatio10s()),
          NativeMemoryView.knownOrNull(pressure.fullRatio10s()));
    }
  }

  static CgroupView of(ProcessMemory memory) {
    return memory
        .cgroup()
        .map(CgroupView::of)
        .orElseGet(
            () -> new CgroupView(null, null, List.of(), null, null, null, null, Map.of(), null));
  }

  private static CgroupView of(CgroupMemory cgroup) {
    return new CgroupView(
        cgroup.version(),
        cgroup.chargedBytes(),
        cgroup.bytes().keySet().stream()
            .sorted()
            .map(part -> new BreakdownView.Part(part.tag(), cgroup.bytes().get(part)))
            .toList(),
        NativeMemoryView.wholeOrNull(cgroup.limitBytes()),
        NativeMemoryView.wholeOrNull(cgroup.highBytes()),
        NativeMemoryView.wholeOrNull(cgroup.workingSetBytes()),
        NativeMemoryView.wholeOrNull(cgroup.swapBytes()),
        new TreeMap<>(cgroup.events()),
        cgroup.pressure().map(Pressure::of).orElse(null));
  }
}
