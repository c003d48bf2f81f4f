/** The native library's reports about accesses to sampled objects. */
@NullMarked
package io.mallometer.internal.leak.evidence;

import org.jspecify.annotations.NullMarked;
