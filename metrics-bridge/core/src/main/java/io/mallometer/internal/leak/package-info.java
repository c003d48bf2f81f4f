/**
 * Judges by observed accesses to sampled objects which call sites leak. Uses the records of {@code
 * io.mallometer} and does not know where the evidence comes from.
 */
@NullMarked
package io.mallometer.internal.leak;

import org.jspecify.annotations.NullMarked;
