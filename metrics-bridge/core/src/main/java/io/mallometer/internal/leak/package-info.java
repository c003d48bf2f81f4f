/**
 * Judges which call sites leak, by the accesses to sampled objects. The native library puts some
 * sampled objects into slots, which are pages of their own. At the end of each epoch, after some
 * seconds, it reads and clears the bits by which the processor marks accessed pages. This package
 * depends only on records of {@code io.mallometer}.
 */
@NullMarked
package io.mallometer.internal.leak;

import org.jspecify.annotations.NullMarked;
