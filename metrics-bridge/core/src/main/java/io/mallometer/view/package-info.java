/**
 * The answers to requests over HTTP or JMX, and their JSON. The Actuator endpoint and the agent's
 * HTTP server only pass these answers on.
 */
@NullMarked
package io.mallometer.view;

import org.jspecify.annotations.NullMarked;
