package io.mallometer.model;

import java.time.Instant;

/**
 * Allocations of the process between two moments.
 *
 * @param name as given at its beginning
 * @param begin when it began
 * @param end when it ended
 * @param figures of all threads in this time, with the peak within it and the sizes of requests
 */
public record Phase(String name, Instant begin, Instant end, ScopeFigures figures) {}
