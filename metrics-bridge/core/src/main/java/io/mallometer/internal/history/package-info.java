/**
 * The last hour: in memory for the faces ({@link io.mallometer.internal.history.History}), and in
 * the recording for whoever looks after the process is gone ({@link
 * io.mallometer.internal.history.Recorder} writes, {@link
 * io.mallometer.internal.history.RecordingReport} reads).
 *
 * <p>The format of the file is described in {@code docs/reference/recording.md}. The native library
 * writes the counters into it; this package writes where the memory was, and all of it where there
 * is no library. Reading needs no library.
 */
@NullMarked
package io.mallometer.internal.history;

import org.jspecify.annotations.NullMarked;
