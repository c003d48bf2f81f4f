package io.mallometer.model;

import java.time.Instant;
import java.util.Optional;

/**
 * Allocations of the process between two moments.
 *
 * @param name as given at its beginning
 * @param begin when it began
 * @param end when it ended
 * @param figures the figures of all threads, with the peak in this time and the sizes of requests
 * @param returnedSizes allocations by the size that the allocator handed out; empty unless a
 *     monitor {@link MonitorOptions#usableSizes()} ran all the time
 */
public record Phase(
    String name,
    Instant begin,
    Instant end,
    ScopeFigures figures,
    Optional<SizeDistribution> returnedSizes) {}
