/** What the native library reports about accesses to sampled objects. */
@NullMarked
package io.mallometer.internal.leak.evidence;

import org.jspecify.annotations.NullMarked;
