package io.mallometer.internal.process;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The facts about the JVM that are needed to divide the resident set into parts.
 *
 * @param ranges the ranges of heap and code
 * @param metadata the class metadata
 * @param stackBytes the size of a Java thread's stack; empty if unknown
 * @param largestStructures the most bytes that the collector's tables and other structures take for
 *     this heap
 * @param directBytes the capacity of the direct buffers; empty if unknown
 * @param tracking the report of native memory tracking; empty unless it is on
 */
record JvmFacts(
    JvmRanges ranges,
    Metadata metadata,
    OptionalLong stackBytes,
    long largestStructures,
    OptionalLong directBytes,
    Optional<NativeMemoryTracking> tracking) {}
