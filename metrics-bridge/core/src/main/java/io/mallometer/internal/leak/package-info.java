/**
 * Judges which call sites leak, by the observed accesses to sampled objects. Depends only on
 * records of {@code io.mallometer}, and not on the source of the evidence.
 */
@NullMarked
package io.mallometer.internal.leak;

import org.jspecify.annotations.NullMarked;
