/**
 * The entry point {@link io.mallometer.Mallometer}, which reads the native memory of this process,
 * and a fake for tests.
 *
 * <p>Data flows one way. The native library counts. Every few seconds, a {@link
 * io.mallometer.model.Snapshot} is read from the library. The outputs (JMX, Micrometer, Prometheus,
 * Flight Recorder, views) show the snapshot and compute nothing. {@link io.mallometer.meter.Meter}
 * lists the meters for all outputs.
 *
 * <p>Counters are exact {@code long}s that only grow. A number that can be unknown is a {@code
 * double}, and {@code NaN} when unknown, never 0. An absent record is an empty {@code Optional}.
 *
 * <p>Packages below {@code io.mallometer.internal} are not part of the API.
 */
@NullMarked
package io.mallometer;

import org.jspecify.annotations.NullMarked;
