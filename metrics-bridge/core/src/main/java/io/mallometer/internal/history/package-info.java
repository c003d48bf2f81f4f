/**
 * Stores the memory use of the last hour: on the heap ({@link
 * io.mallometer.internal.history.History}), and in the recording, which can be read after the end
 * of the process ({@link io.mallometer.internal.history.Recorder} adds texts to it, {@link
 * io.mallometer.internal.history.RecordingReport} reads it).
 *
 * <p>{@code docs/reference/recording.md} describes the format of the file. The native library
 * writes the file: its own counters, and the texts of this package. Reading needs no library.
 */
@NullMarked
package io.mallometer.internal.history;

import org.jspecify.annotations.NullMarked;
