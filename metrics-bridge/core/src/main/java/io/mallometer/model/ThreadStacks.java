package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import io.mallometer.internal.text.HumanText;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The platform threads of Java, grouped by pool, with the resident memory of their stacks.
 *
 * @param allPools all pools, most resident memory first
 */
public record ThreadStacks(
    List<ThreadPool> allPools,
    @Figure("Why the bytes or the pools are unknown; empty if they are known") String reason) {

  /** The largest number of pools that are listed. */
  public static final int MOST_POOLS = 20;

  private static final int MOST_NAMED = 5;

  /** The value for a process whose threads were not read. */
  public static final ThreadStacks NONE = new ThreadStacks(List.of(), "");

  /** A pool: the threads whose names differ only in numbers. */
  public record ThreadPool(
      @Figure("The whole name of the threads, with # for each number in it") String name,
      @Figure(value = "Live threads", unit = COUNT) int threads,
      @Figure(value = "Resident memory of their stacks; unknown without the library", unit = BYTES)
          double stackBytes) {

    /** Returns the pool in words, such as {@code 200 http-nio-#-exec-# (24 MiB)}. */
    @Override
    public String toString() {
      String bytes = Double.isNaN(stackBytes) ? "" : " (%s)".formatted(HumanText.bytes(stackBytes));
      return threads + " " + name + bytes;
    }
  }

  public ThreadStacks {
    allPools = List.copyOf(allPools);
  }

  /** Returns the largest pools. */
  @Figure("The pools with most resident memory in stacks, most first; at most 20")
  public List<ThreadPool> pools() {
    return allPools.subList(0, Math.min(allPools.size(), MOST_POOLS));
  }

  /** Returns the largest pools in one sentence; empty without pools. */
  @Figure("The largest pools in one sentence; empty without pools")
  public String sentence() {
    return allPools.isEmpty()
        ? ""
        : allPools.stream()
            .limit(MOST_NAMED)
            .map(ThreadPool::toString)
            .collect(Collectors.joining(", ", "Threads by pool: ", "."));
  }
}
