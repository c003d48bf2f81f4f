/**
 * The interface to the native library, whether it is there or not, and the data that it returns.
 */
@NullMarked
package io.mallometer.internal.library;

import org.jspecify.annotations.NullMarked;
