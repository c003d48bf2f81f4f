package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;

import io.mallometer.model.Diagnosis.Limit;
import java.util.Optional;

/**
 * The memory of the process as the operating system reports it. It is known even without the native
 * library. Parts that this system does not report are empty.
 *
 * @param residentFileBytes the resident bytes of mapped files, without private copies of pages that
 *     the process has written; {@code NaN} if the kernel does not report them
 * @param machineBytes the size of the machine's memory; {@code NaN} if unknown
 * @param availableBytes the bytes of the machine's memory that programs can still allocate; {@code
 *     NaN} if unknown
 * @param statedLimitBytes the value of {@link Setting#LIMIT}; {@code NaN} if it is not set
 */
public record ProcessMemory(
    @Figure(
            value = "The resident set of the process at the latest poll",
            unit = BYTES,
            attribute = "ResidentBytes")
        double residentBytes,
    double residentFileBytes,
    @Figure("The latest split of the resident set, some seconds older than the rest")
        Optional<ResidentMemory> resident,
    @Figure("The memory cgroup at the latest poll; empty outside one")
        Optional<CgroupMemory> cgroup,
    @Figure("The budget at the latest split") Optional<MemoryBudget> budget,
    double machineBytes,
    double availableBytes,
    double statedLimitBytes) {

  private static final ProcessMemory UNKNOWN =
      new ProcessMemory(Double.NaN, Optional.empty(), Optional.empty(), Optional.empty());

  /**
   * Creates the figures. The resident bytes of files, the sizes of the machine's memory and the
   * value of {@link Setting#LIMIT} are unknown ({@code NaN}).
   */
  public ProcessMemory(
      double residentBytes,
      Optional<ResidentMemory> resident,
      Optional<CgroupMemory> cgroup,
      Optional<MemoryBudget> budget) {
    this(residentBytes, Double.NaN, resident, cgroup, budget, Double.NaN, Double.NaN, Double.NaN);
  }

  /** Returns the memory of a process whose figures were not read, or cannot be read. */
  public static ProcessMemory unknown() {
    return UNKNOWN;
  }

  /**
   * Returns this memory with another division of the resident set into parts, and another budget.
   */
  public ProcessMemory with(Optional<ResidentMemory> split, Optional<MemoryBudget> claims) {
    return new ProcessMemory(
        residentBytes,
        residentFileBytes,
        split,
        cgroup,
        claims,
        machineBytes,
        availableBytes,
        statedLimitBytes);
  }

  /**
   * Returns the resident bytes that count toward a limit. Pages of files do not count, because the
   * kernel can drop them and read them again.
   */
  public double residentUsedBytes() {
    double files =
        Double.isNaN(residentFileBytes)
            ? resident.map(ResidentMemory::fileBytes).orElse(0L)
            : residentFileBytes;
    return Math.max(0, residentBytes - files);
  }

  /**
   * Returns the stated limit or the limit of the cgroup, whichever leaves less memory. {@link
   * Limit#NONE} if neither is set.
   */
  public Limit setLimit() {
    double most = cgroup.map(CgroupMemory::limitBytes).orElse(Double.NaN);
    double used = cgroup.map(CgroupMemory::usedBytes).orElse(Double.NaN);
    double left = statedLimitBytes - residentUsedBytes();
    if (!Double.isNaN(statedLimitBytes) && !(left > most - used)) {
      return Limit.of(statedLimitBytes, residentUsedBytes(), Limit.STATED);
    }
    return Double.isNaN(most) ? Limit.NONE : Limit.of(most, used, Limit.CGROUP);
  }

  /** Returns {@link #setLimit()}, or the machine's memory if no limit is set. */
  public Limit limit() {
    Limit set = setLimit();
    return Double.isNaN(set.bytes()) && !Double.isNaN(machineBytes)
        ? Limit.of(machineBytes, machineBytes - availableBytes, Limit.MACHINE)
        : set;
  }
}
