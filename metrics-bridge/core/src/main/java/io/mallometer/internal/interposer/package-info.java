/**
 * The way to the native library: is it there and if not, why; the calls; the decoding of what they
 * return; and the unpacking of the library that the jar carries.
 *
 * <p>The only package that knows JNA or a byte offset of {@code mallometer.h}.
 */
@NullMarked
package io.mallometer.internal.interposer;

import org.jspecify.annotations.NullMarked;
