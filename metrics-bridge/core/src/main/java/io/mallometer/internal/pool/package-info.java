/**
 * Readers of other libraries' pools: which buffers keep a chunk that is one allocation for malloc.
 *
 * <p>A reader for another library implements {@link io.mallometer.internal.pool.PoolLibrary} and
 * stands in the list of {@link io.mallometer.internal.pool.PoolWatch}.
 */
@NullMarked
package io.mallometer.internal.pool;

import org.jspecify.annotations.NullMarked;
