/**
 * The calls of the native library's functions and the decoding of its structs.
 *
 * <p>Only this package knows the byte offsets of {@code mallometer.h}.
 */
@NullMarked
package io.mallometer.internal.library.abi;

import org.jspecify.annotations.NullMarked;
