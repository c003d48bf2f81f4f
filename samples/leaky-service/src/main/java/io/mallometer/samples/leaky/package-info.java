/**
 * A small report service whose memory is mostly native, so that there is something real to look at.
 *
 * <p>Every report is written, indexed by SQLite, packed by zlib, stored by zstd, sent through
 * direct buffers and spooled to a native printer block. Each of these steps owns native memory and
 * gives it back, unless its {@link io.mallometer.samples.leaky.LeakSwitch} is on: then it forgets
 * to, as a program with a bug on one path would.
 */
@NullMarked
package io.mallometer.samples.leaky;

import org.jspecify.annotations.NullMarked;
