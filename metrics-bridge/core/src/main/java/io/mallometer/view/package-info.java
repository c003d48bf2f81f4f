/**
 * The answers to requests over HTTP or JMX, and their JSON: one implementation for the Actuator
 * endpoint and the agent's server, which both only pass it on.
 */
@NullMarked
package io.mallometer.view;

import org.jspecify.annotations.NullMarked;
