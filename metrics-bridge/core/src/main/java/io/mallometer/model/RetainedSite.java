package io.mallometer.model;

/**
 * Memory that a call site allocated within a scope and that was not freed, estimated from samples.
 *
 * @param site the call site with its stack; its figures cover the whole process, not only the scope
 * @param bytes the bytes not freed, in the unit of {@link ScopeCounts#allocatedBytes()}
 */
public record RetainedSite(CallSite site, Estimate bytes) {}
