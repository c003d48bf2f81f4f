/**
 * The bridge as a Java agent and a command line, in one jar.
 *
 * <p>An agent's jar joins the application's class path, so it holds next to nothing: these few
 * classes, and a nested jar with the bridge, JNA and Prometheus' client, which {@link
 * io.mallometer.agent.PayloadLoader} loads where the application cannot see them. The two sides
 * talk through {@link io.mallometer.agent.Payload} in types of the JDK.
 */
@NullMarked
package io.mallometer.agent;

import org.jspecify.annotations.NullMarked;
