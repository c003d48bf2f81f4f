/** Tests in a JVM whose allocations are counted, and the measurement of the cost of a poll. */
@NullMarked
package io.mallometer.preload;

import org.jspecify.annotations.NullMarked;
