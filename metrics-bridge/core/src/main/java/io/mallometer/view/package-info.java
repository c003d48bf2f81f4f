/**
 * What is answered to those who ask over HTTP or JMX, and how it is written as JSON: one
 * implementation for the Actuator endpoint and the agent's server, which both only carry it.
 */
@NullMarked
package io.mallometer.view;

import org.jspecify.annotations.NullMarked;
