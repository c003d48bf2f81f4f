/** The evidence of the use of sampled objects, as the native library provides it. */
@NullMarked
package io.mallometer.internal.leak.evidence;

import org.jspecify.annotations.NullMarked;
