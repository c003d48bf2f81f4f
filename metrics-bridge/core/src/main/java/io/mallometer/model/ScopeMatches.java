package io.mallometer.model;

/**
 * Allocations of a scope, matched by address with their frees.
 *
 * <p>An object is temporary if it was freed within the scope by a thread that the scope is over,
 * and otherwise retained. An object that another thread freed counts as retained in a thread's
 * scope.
 *
 * @param temporaryCalls allocations whose object was freed within the scope
 * @param temporaryBytes their bytes, in the unit of {@link ScopeCounts#allocatedBytes()}
 * @param retainedCalls allocations whose object was not freed
 * @param retainedBytes their bytes
 * @param foreignFrees frees of objects that were allocated outside of the scope
 * @param foreignFreedBytes their bytes
 */
public record ScopeMatches(
    long temporaryCalls,
    long temporaryBytes,
    long retainedCalls,
    long retainedBytes,
    long foreignFrees,
    long foreignFreedBytes) {

  /** Returns the sum of these figures and the others. */
  public ScopeMatches plus(ScopeMatches other) {
    return new ScopeMatches(
        temporaryCalls + other.temporaryCalls,
        temporaryBytes + other.temporaryBytes,
        retainedCalls + other.retainedCalls,
        retainedBytes + other.retainedBytes,
        foreignFrees + other.foreignFrees,
        foreignFreedBytes + other.foreignFreedBytes);
  }
}
