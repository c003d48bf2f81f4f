package io.mallometer.model;

/**
 * What a call site allocated within a scope and did not free: an estimate from its samples.
 *
 * @param site the call site, with its stack; its other figures are those of the process
 * @param bytes retained bytes, in the unit of {@link ScopeCounts#allocatedBytes()}
 */
public record RetainedSite(CallSite site, Estimate bytes) {}
