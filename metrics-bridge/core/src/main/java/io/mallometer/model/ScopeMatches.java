package io.mallometer.model;

/**
 * The allocations of a scope, matched by address with their frees.
 *
 * <p>An object is temporary if a thread of the scope freed it within the scope, and retained
 * otherwise. In a scope of one thread, an object that another thread freed counts as retained.
 *
 * @param temporaryCalls the number of allocations whose object was freed within the scope
 * @param temporaryBytes the bytes of the temporary objects, in the unit of {@link
 *     ScopeCounts#allocatedBytes()}
 * @param retainedCalls the number of allocations whose object was not freed
 * @param retainedBytes the bytes of the retained objects
 * @param foreignFrees the number of frees of objects that were allocated outside of the scope
 * @param foreignFreedBytes the bytes of the objects allocated outside
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
