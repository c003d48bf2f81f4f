/** The list of meters that JMX, Micrometer and Prometheus publish. */
@NullMarked
package io.mallometer.meter;

import org.jspecify.annotations.NullMarked;
