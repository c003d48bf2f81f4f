/**
 * {@link io.mallometer.Mallometer}, the native memory of this process, and a fake of it for tests.
 *
 * <p>Data flows one way. The native library counts; a {@link io.mallometer.model.Snapshot} is read
 * from it every few seconds; outputs (JMX, Micrometer, Prometheus, Flight Recorder, views) show it
 * and compute nothing. {@link io.mallometer.meter.Meter} lists the meters for all outputs.
 *
 * <p>Counters are exact {@code long}s that only grow. A number that can be unknown is a {@code
 * double}, and {@code NaN} when unknown, never 0. An absent record is an empty {@code Optional}.
 *
 * <p>Packages below {@code io.mallometer.internal} are not part of the API.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
