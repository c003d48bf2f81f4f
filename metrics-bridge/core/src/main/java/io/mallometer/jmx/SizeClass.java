package io.mallometer.jmx;

/**
 * The allocations of one size class.
 *
 * @param upTo the largest request in the class, in bytes; {@code Long.MAX_VALUE} for the last
 * @param allocations successful allocations of that size that no smaller class holds
 */
public record SizeClass(long upTo, long allocations) {}
