package io.mallometer.process;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the JVM says about itself and a split needs.
 *
 * @param ranges where heap and code lie
 * @param classSpaceBytes reserved for the compressed class space; empty without one
 * @param maximumHeapBytes the largest heap; empty if unknown
 * @param directBytes capacity of the direct buffers; empty if unknown
 * @param tracking the JVM's own account, if native memory tracking is on
 */
record JvmFacts(
    JvmRanges ranges,
    OptionalLong classSpaceBytes,
    OptionalLong maximumHeapBytes,
    OptionalLong directBytes,
    Optional<NativeMemoryTracking> tracking) {}
