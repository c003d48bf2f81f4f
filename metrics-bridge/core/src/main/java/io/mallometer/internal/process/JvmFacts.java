package io.mallometer.internal.process;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the JVM says about itself and a split needs.
 *
 * @param ranges where heap and code lie
 * @param metadata its class metadata
 * @param stackBytes size of a Java thread's stack; empty if unknown
 * @param largestStructures what the collector's tables and the like may take for this heap
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
