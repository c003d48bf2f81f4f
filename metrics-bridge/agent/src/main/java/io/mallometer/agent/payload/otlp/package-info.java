/**
 * The code that uses OpenTelemetry's exporter. The exporter is not part of the agent; it is loaded
 * from the directory in the option {@code otlp.path}.
 */
@NullMarked
package io.mallometer.agent.payload.otlp;

import org.jspecify.annotations.NullMarked;
