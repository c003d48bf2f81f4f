package io.mallometer.internal.process;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Facts about the JVM that a split needs.
 *
 * @param ranges the ranges of heap and code
 * @param metadata its class metadata
 * @param stackBytes size of a Java thread's stack; empty if unknown
 * @param largestStructures the most bytes of the collector's tables and the like for this heap
 * @param directBytes capacity of the direct buffers; empty if unknown
 * @param tracking the JVM's own account, if native memory tracking is on
 */
record JvmFacts(
    JvmRanges ranges,
    Metadata metadata,
    OptionalLong stackBytes,
    long largestStructures,
    OptionalLong directBytes,
    Optional<NativeMemoryTracking> tracking) {}
