/**
 * Reads the pools of other libraries. A pool's chunk is one allocation for malloc, so only the
 * library knows the buffers that keep it.
 *
 * <p>To support another library, write a class like {@link io.mallometer.internal.pool.NettyPools}
 * and call it in {@link io.mallometer.internal.pool.PoolWatch}.
 */
@NullMarked
package io.mallometer.internal.pool;

import org.jspecify.annotations.NullMarked;
