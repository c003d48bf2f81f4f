/** Percentiles are not interpolated: of ten sorted samples, p25 is the third and p99 the tenth. */
@NullMarked
package io.mallometer.internal.gate;

import org.jspecify.annotations.NullMarked;
