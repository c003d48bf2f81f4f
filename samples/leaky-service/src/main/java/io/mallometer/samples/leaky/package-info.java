/**
 * A small report service that can leak native memory, as an example to observe.
 *
 * <p>Every report is written, indexed by SQLite, packed by zlib, stored by zstd, sent through
 * direct buffers and printed from a native block. While the {@link
 * io.mallometer.samples.leaky.LeakSwitch} of a step is on, the step sometimes does not free its
 * native memory.
 */
@NullMarked
package io.mallometer.samples.leaky;

import org.jspecify.annotations.NullMarked;
