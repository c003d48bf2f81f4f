/**
 * What mallometer knows about the native memory of this process: the facade {@link
 * io.mallometer.Mallometer} and the immutable records that every face (JMX, Micrometer, Prometheus)
 * shows.
 *
 * <p>Data flows one way. The native library counts; a {@link io.mallometer.Snapshot} is read from
 * it every few seconds; the faces show the latest snapshot and compute nothing. {@link
 * io.mallometer.Meter} lists what they show, once for all of them.
 *
 * <p>Counters are exact {@code long}s that only grow. Figures that can be unknown are {@code
 * double}s, {@code NaN} when unknown, and what is not there at all is an empty {@code Optional}:
 * never 0.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
