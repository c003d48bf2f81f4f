/**
 * Reads the pools of other libraries. A chunk of a pool is one allocation for malloc, so only the
 * library knows the buffers that keep the chunk.
 *
 * <p>To support another library, implement {@link io.mallometer.internal.pool.PoolLibrary} and add
 * the implementation to the list of {@link io.mallometer.internal.pool.PoolWatch}.
 */
@NullMarked
package io.mallometer.internal.pool;

import org.jspecify.annotations.NullMarked;
