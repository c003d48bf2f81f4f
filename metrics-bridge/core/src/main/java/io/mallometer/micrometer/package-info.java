/** A Micrometer binder for {@link io.mallometer.meter.Meter#all() all meters}. */
@NullMarked
package io.mallometer.micrometer;

import org.jspecify.annotations.NullMarked;
