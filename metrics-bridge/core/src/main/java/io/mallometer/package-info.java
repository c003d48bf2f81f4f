/**
 * {@link io.mallometer.Mallometer}, the native memory of this process, and its fake.
 *
 * <p>Data flows one way. The native library counts; a {@link io.mallometer.model.Snapshot} is read
 * from it every few seconds; outputs (JMX, Micrometer, Prometheus, Flight Recorder, views) show it
 * and compute nothing. {@link io.mallometer.meter.Meter} lists the meters, once for all outputs.
 *
 * <p>Counters are exact {@code long}s that only grow. Numbers that can be unknown are {@code
 * double}s, {@code NaN} when unknown. A record that is absent is an empty {@code Optional}. An
 * unknown number is never 0.
 *
 * <p>Packages below {@code io.mallometer.internal} are not part of the API.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
