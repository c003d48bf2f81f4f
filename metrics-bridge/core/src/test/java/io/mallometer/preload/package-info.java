/** Tests in a JVM that really counts, and the measurement of a poll. */
@NullMarked
package io.mallometer.preload;

import org.jspecify.annotations.NullMarked;
