package io.mallometer.model;

import java.util.Optional;

/**
 * Memory of the process as the operating system sees it, known with and without the native library.
 * What cannot be read on this system is empty.
 *
 * @param residentBytes the resident set at the latest poll; {@code NaN} if unknown
 * @param resident the latest split of the resident set, some seconds older than the rest
 * @param cgroup the memory cgroup at the latest poll; empty outside one
 * @param budget the budget at the latest split
 * @param machineBytes the machine's memory; {@code NaN} if unknown
 * @param availableBytes what of it programs can still have; {@code NaN} if unknown
 */
public record ProcessMemory(
    double residentBytes,
    Optional<ResidentMemory> resident,
    Optional<CgroupMemory> cgroup,
    Optional<MemoryBudget> budget,
    double machineBytes,
    double availableBytes) {

  private static final ProcessMemory UNKNOWN =
      new ProcessMemory(Double.NaN, Optional.empty(), Optional.empty(), Optional.empty());

  /** The memory of a process on a machine of which nothing is known. */
  public ProcessMemory(
      double residentBytes,
      Optional<ResidentMemory> resident,
      Optional<CgroupMemory> cgroup,
      Optional<MemoryBudget> budget) {
    this(residentBytes, resident, cgroup, budget, Double.NaN, Double.NaN);
  }

  /** Memory that was not read, or cannot be. */
  public static ProcessMemory unknown() {
    return UNKNOWN;
  }
}
