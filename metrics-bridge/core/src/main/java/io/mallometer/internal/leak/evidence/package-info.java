/** The evidence of the use of sampled objects, as the native library hands it out. */
@NullMarked
package io.mallometer.internal.leak.evidence;

import org.jspecify.annotations.NullMarked;
