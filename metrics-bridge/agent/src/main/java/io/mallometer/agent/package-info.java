/**
 * The Java agent and the command line, in one jar.
 *
 * <p>An agent's jar joins the application's class path, so it holds only these few classes and two
 * nested jars: the agent's other code with JNA and Prometheus' client, and the command line. {@link
 * io.mallometer.agent.PayloadLoader} loads the nested jars where the application cannot see them.
 * {@link io.mallometer.agent.Payload} connects the two sides and passes only types of the JDK.
 */
@NullMarked
package io.mallometer.agent;

import org.jspecify.annotations.NullMarked;
