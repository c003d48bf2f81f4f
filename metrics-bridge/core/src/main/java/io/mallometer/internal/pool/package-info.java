/**
 * Reads the pools of other libraries. A pool gets a chunk by one allocation of malloc and divides
 * it into buffers. Only the pool's library knows which buffers keep a chunk allocated.
 *
 * <p>To support another library, write a class like {@link io.mallometer.internal.pool.NettyPools}
 * and call it in {@link io.mallometer.internal.pool.PoolWatch}.
 */
@NullMarked
package io.mallometer.internal.pool;

import org.jspecify.annotations.NullMarked;
