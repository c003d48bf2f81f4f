/** The interface to the native library, present or absent, and the data that it returns. */
@NullMarked
package io.mallometer.internal.library;

import org.jspecify.annotations.NullMarked;
