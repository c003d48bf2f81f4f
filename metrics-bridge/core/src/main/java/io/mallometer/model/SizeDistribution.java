package io.mallometer.model;

import static io.mallometer.model.Figure.Unit.BYTES;
import static io.mallometer.model.Figure.Unit.COUNT;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;

/**
 * The numbers of allocations by requested size, in 20 fixed classes.
 *
 * <p>The upper bound of class {@code i < 19} is {@code 2^(4+i)} bytes (16 B, 32 B, ..., 4 MiB);
 * class 19 has no upper bound. Immutable; counts are exact and wrap at 2^64.
 */
public final class SizeDistribution {

  /** The number of size classes. */
  public static final int CLASSES = 20;

  /** The first class above the page size of 4096 bytes. */
  public static final int FIRST_LARGE_CLASS = 9;

  private static final int SMALLEST_LIMIT_LOG2 = 4;

  private final long[] counts;

  /** The allocations of one size class. */
  public record SizeClass(
      @Figure(value = "The largest request in the class; absent for the last", unit = BYTES)
          double upToBytes,
      @Figure(value = "Allocations of such sizes", unit = COUNT) long allocations) {}

  private SizeDistribution(long[] counts) {
    this.counts = counts;
  }

  /**
   * Returns a distribution with the given counts.
   *
   * @param counts the numbers of allocations by class, smallest sizes first; copied
   * @throws IllegalArgumentException if there are not exactly {@value #CLASSES} counts
   */
  public static SizeDistribution of(long... counts) {
    if (counts.length != CLASSES) {
      throw new IllegalArgumentException(
          "expected " + CLASSES + " counts but got " + counts.length);
    }
    return new SizeDistribution(counts.clone());
  }

  /**
   * Returns a distribution with computed counts. Calls {@code countOfClass} once for each class,
   * smallest sizes first.
   */
  public static SizeDistribution of(IntToLongFunction countOfClass) {
    long[] counts = new long[CLASSES];
    for (int i = 0; i < CLASSES; i++) {
      counts[i] = countOfClass.applyAsLong(i);
    }
    return new SizeDistribution(counts);
  }

  /**
   * Returns the largest requested size of a class, in bytes; positive infinity for the last.
   *
   * @param sizeClass 0 to {@code CLASSES - 1}
   */
  public static double upperBound(int sizeClass) {
    if (sizeClass < 0 || sizeClass >= CLASSES) {
      throw new IndexOutOfBoundsException(sizeClass);
    }
    return sizeClass == CLASSES - 1
        ? Double.POSITIVE_INFINITY
        : 1L << (SMALLEST_LIMIT_LOG2 + sizeClass);
  }

  /** Returns the number of allocations in one class, from 0 to {@code CLASSES - 1}. */
  public long count(int sizeClass) {
    return counts[sizeClass];
  }

  /** Returns all classes, smallest sizes first. */
  public List<SizeClass> classes() {
    return IntStream.range(0, CLASSES)
        .mapToObj(i -> new SizeClass(upperBound(i), counts[i]))
        .toList();
  }

  /** Returns the number of allocations in a class and in all classes of smaller sizes. */
  public long upTo(int sizeClass) {
    return sum(0, sizeClass + 1);
  }

  /** Returns the number of allocations of all sizes. */
  public long total() {
    return sum(0, CLASSES);
  }

  /** Returns the number of allocations of at most 4096 bytes. */
  public long small() {
    return sum(0, FIRST_LARGE_CLASS);
  }

  /** Returns the number of allocations above 4096 bytes. */
  public long large() {
    return sum(FIRST_LARGE_CLASS, CLASSES);
  }

  /** Returns the counts by class, as a new array, smallest sizes first. */
  public long[] toArray() {
    return counts.clone();
  }

  /** Returns the distribution of the allocations since {@code start}. */
  public SizeDistribution minus(SizeDistribution start) {
    return of(i -> counts[i] - start.counts[i]);
  }

  private long sum(int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += counts[i];
    }
    return sum;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SizeDistribution that && Arrays.equals(counts, that.counts);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(counts);
  }

  @Override
  public String toString() {
    return Arrays.toString(counts);
  }
}
