/**
 * A small report service whose memory is mostly native, as an example to observe.
 *
 * <p>Every report is written, indexed by SQLite, packed by zlib, stored by zstd, sent through
 * direct buffers and spooled in a native block to a printer. Each of these steps allocates native
 * memory and frees it, unless its {@link io.mallometer.samples.leaky.LeakSwitch} is on: then the
 * step forgets to free it, like a program with a bug on one path.
 */
@NullMarked
package io.mallometer.samples.leaky;

import org.jspecify.annotations.NullMarked;
