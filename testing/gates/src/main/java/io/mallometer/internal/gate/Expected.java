package io.mallometer.internal.gate;

import java.util.Optional;

/**
 * The expected figures of a metric.
 *
 * @param unit the unit of the figures
 * @param distribution the figures
 * @param tolerance the tolerance for this metric; empty for the tolerance of the whole comparison
 */
public record Expected(String unit, Distribution distribution, Optional<Tolerance> tolerance) {

  Expected(String unit, Distribution distribution) {
    this(unit, distribution, Optional.empty());
  }
}
