/**
 * A small report service whose memory is mostly native, as an example to observe.
 *
 * <p>Every report is written, indexed by SQLite, packed by zlib, stored by zstd, sent through
 * direct buffers and spooled in a native block to a printer. The direct buffers are pooled. Each
 * other step, except the writing, allocates native memory and frees it. While the {@link
 * io.mallometer.samples.leaky.LeakSwitch} of a step is on, the step sometimes does not free the
 * memory, like a program with a bug on one path.
 */
@NullMarked
package io.mallometer.samples.leaky;

import org.jspecify.annotations.NullMarked;
