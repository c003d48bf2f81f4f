/**
 * Judges which call sites leak, by the observed accesses to sampled objects. The native library
 * puts some sampled objects into slots, which are pages of their own. An epoch takes some seconds.
 * At its end the library reads and clears the bits by which the processor marks accessed pages.
 * This package depends only on records of {@code io.mallometer}, and not on the source of the
 * evidence.
 */
@NullMarked
package io.mallometer.internal.leak;

import org.jspecify.annotations.NullMarked;
