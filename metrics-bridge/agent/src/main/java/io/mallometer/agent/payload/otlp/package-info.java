/**
 * What needs OpenTelemetry's exporter, which the agent does not carry: loaded with it, from where
 * the option {@code otlp.path} says.
 */
@NullMarked
package io.mallometer.agent.payload.otlp;

import org.jspecify.annotations.NullMarked;
