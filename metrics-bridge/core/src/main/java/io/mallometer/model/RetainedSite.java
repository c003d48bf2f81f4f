package io.mallometer.model;

/**
 * Memory that a call site allocated within a scope and that was not freed, estimated from samples.
 *
 * @param site the call site, with its stack; its other figures are those of the process
 * @param bytes the net bytes, in the unit of {@link ScopeCounts#allocatedBytes()}
 */
public record RetainedSite(CallSite site, Estimate bytes) {}
