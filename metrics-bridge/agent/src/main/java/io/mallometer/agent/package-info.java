/**
 * The bridge as a Java agent and a command line, in one jar.
 *
 * <p>An agent's jar joins the application's class path, so it holds only these few classes and a
 * nested jar with the bridge, JNA and Prometheus' client, which {@link
 * io.mallometer.agent.PayloadLoader} loads where the application cannot see them. {@link
 * io.mallometer.agent.Payload} connects the two sides and passes only types of the JDK.
 */
@NullMarked
package io.mallometer.agent;

import org.jspecify.annotations.NullMarked;
