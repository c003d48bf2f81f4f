package io.mallometer.model;

/**
 * A call site whose live objects separate free memory, so that the allocator keeps it.
 *
 * @param site its name
 * @param library whose code it is
 * @param share of the free memory between objects, what lies beside its own; 1 is all
 * @param objects its live objects beside which free memory lies
 * @param bytes resident free memory beside its objects: half of each free chunk at either end,
 *     since two objects hold it
 * @param stuckBytes the part of it that no trim gives back, because it shares pages with objects
 * @param medianAgeSeconds half of {@code bytes} lies beside objects that are older
 */
public record PinningSite(
    String site,
    String library,
    Estimate share,
    Estimate objects,
    Estimate bytes,
    Estimate stuckBytes,
    double medianAgeSeconds) {}
