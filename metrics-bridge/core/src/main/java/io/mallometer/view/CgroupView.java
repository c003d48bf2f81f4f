package io.mallometer.view;

import static java.lang.Double.NaN;

import io.mallometer.model.CgroupMemory;
import io.mallometer.model.ProcessMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Answer of {@code nativememory/cgroup}: the memory cgroup as the kernel accounts for it. Outside a
 * cgroup everything is unknown.
 *
 * @param version 1 or 2
 * @param chargedBytes what is charged now: the sum of the parts
 * @param parts what it is
 * @param limitBytes the lowest limit in force; {@code NaN} without one
 * @param highBytes above it the kernel slows down and reclaims; {@code NaN} without one
 * @param workingSetBytes charged without inactive files, as Kubernetes evicts by
 * @param swapBytes in swap
 * @param events how often something happened, by the kernel's name
 * @param pressure time lost waiting for memory; empty if the kernel does not tell
 */
public record CgroupView(
    @Nullable Integer version,
    @Nullable Long chargedBytes,
    List<BreakdownView.Part> parts,
    @Whole double limitBytes,
    @Whole double highBytes,
    @Whole double workingSetBytes,
    @Whole double swapBytes,
    Map<String, Long> events,
    Optional<CgroupMemory.Pressure> pressure)
    implements View {

  static CgroupView of(ProcessMemory memory) {
    return memory
        .cgroup()
        .map(CgroupView::of)
        .orElseGet(
            () ->
                new CgroupView(
                    null, null, List.of(), NaN, NaN, NaN, NaN, Map.of(), Optional.empty()));
  }

  private static CgroupView of(CgroupMemory cgroup) {
    return new CgroupView(
        cgroup.version(),
        cgroup.chargedBytes(),
        cgroup.bytes().keySet().stream()
            .sorted()
            .map(part -> new BreakdownView.Part(part.tag(), cgroup.bytes().get(part)))
            .toList(),
        cgroup.limitBytes(),
        cgroup.highBytes(),
        cgroup.workingSetBytes(),
        cgroup.swapBytes(),
        new TreeMap<>(cgroup.events()),
        cgroup.pressure());
  }
}
