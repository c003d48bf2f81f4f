/**
 * Calls the native library's functions and decodes its structs. Only this package knows the byte
 * offsets of {@code mallometer.h}.
 */
@NullMarked
package io.mallometer.internal.library.abi;

import org.jspecify.annotations.NullMarked;
