package io.mallometer.model;

import java.time.Instant;
import java.util.Optional;

/**
 * The allocations of the process between two moments.
 *
 * @param name the name that was given when the phase began
 * @param begin the start of the phase
 * @param end the end of the phase
 * @param figures the counts of all threads, with the peak within the phase
 * @param returnedSizes the allocations by the size that the allocator returned; empty unless a
 *     monitor with {@link MonitorOptions#usableSizes()} ran for the whole phase
 */
public record Phase(
    String name,
    Instant begin,
    Instant end,
    ScopeFigures figures,
    Optional<SizeDistribution> returnedSizes) {}
