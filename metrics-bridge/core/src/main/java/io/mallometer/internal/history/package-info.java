/**
 * Stores the memory use of the last hour: on the heap, and in the recording, a file that can be
 * read after the end of the process.
 *
 * <p>{@code docs/reference/recording.md} describes the format of the file. Only the native library
 * writes it; reading needs no library.
 */
@NullMarked
package io.mallometer.internal.history;

import org.jspecify.annotations.NullMarked;
