/**
 * The last hour: in memory for the faces ({@link io.mallometer.internal.history.History}), and in
 * the recording for readers after the end of the process ({@link
 * io.mallometer.internal.history.Recorder} takes part, {@link
 * io.mallometer.internal.history.RecordingReport} reads).
 *
 * <p>{@code docs/reference/recording.md} describes the format of the file. The native library
 * writes the file: its own counters, and the texts of this package. Reading needs no library.
 */
@NullMarked
package io.mallometer.internal.history;

import org.jspecify.annotations.NullMarked;
