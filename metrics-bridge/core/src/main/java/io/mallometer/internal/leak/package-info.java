/**
 * Judges which call sites leak, by the accesses to sampled objects. The native library puts some
 * sampled objects into slots, which are pages of their own. An epoch lasts some seconds. The
 * library reads and clears the accessed bits of the pages at the end of each epoch. This package
 * depends only on records of {@code io.mallometer}.
 */
@NullMarked
package io.mallometer.internal.leak;

import org.jspecify.annotations.NullMarked;
