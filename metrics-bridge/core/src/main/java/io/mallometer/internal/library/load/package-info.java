/**
 * Finds the native library in this process, or the reason why it is not there. Also unpacks and
 * opens the library of the jar.
 */
@NullMarked
package io.mallometer.internal.library.load;

import org.jspecify.annotations.NullMarked;
