/**
 * Finds the native library: whether it is in this process, and the reason if not; unpacks and opens
 * the library of the jar.
 */
@NullMarked
package io.mallometer.internal.library.load;

import org.jspecify.annotations.NullMarked;
